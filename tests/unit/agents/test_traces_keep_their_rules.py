"""Whatever a policy calls and whatever the world answers, the trace of it keeps every rule of traces."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import PASSAGES, SETTINGS, World, run

from calibrag.agents.pass_record import prompt_id
from calibrag.agents.protocol import (
    Answer,
    Converse,
    EntitySearch,
    MalformedCall,
    ProposeAnswers,
    Read,
    RecordNugget,
    Retract,
    Retrieve,
    Said,
    Search,
    Sentence,
)
from calibrag.agents.settings import Limits
from calibrag.errors import ModelCallError
from calibrag.execution.passes import recorded_passages
from calibrag.execution.trace_rules import RULES
from calibrag.execution.trace_rules.case import Case
from calibrag.models.chat.seam import ChatUsage, Message, Reply, ToolCall

PROMPT = "You answer questions."
IDS = st.sampled_from([*(passage.passage_id for passage in PASSAGES), "Heat#1", "unknown"])
CLAIMS = st.sampled_from(["Michael Mann directed Heat.", ""])
QUOTES = st.lists(st.sampled_from(["It was directed by Michael Mann.", "Ali is a 2001 film.", "made up"]), max_size=2)
HEAT = RecordNugget(passage_id="Heat#0", quotes=["It was directed by Michael Mann."], claim="Mann directed Heat.")
MANN = RecordNugget(passage_id="Mann#0", quotes=["Michael Mann directed Heat"], claim="Michael Mann directed it.")

TEXTS = st.sampled_from([None, "Michael Mann", "two\nlines", " "])

CALLS = st.one_of(
    st.builds(Search, query=st.sampled_from(["Heat", " "]), neighbours=st.integers(-1, 3)),
    st.builds(EntitySearch, name=st.sampled_from(["Mann", "?"])),
    st.builds(Read, passage_id=IDS, question=st.sampled_from(["Who directed Heat?", "zebra"])),
    st.builds(RecordNugget, passage_id=IDS, quotes=QUOTES, claim=CLAIMS),
    st.sampled_from([HEAT, MANN]),
    st.builds(Retract, nugget_id=st.sampled_from(["n1", "n2", "n9"])),
    st.builds(Answer, text=TEXTS, passage_ids=st.lists(IDS, max_size=2)),
    st.just(MalformedCall(name="browse", arguments="{", problem="no such tool")),
    st.just(ProposeAnswers(question="Who?", sentences=[Sentence(passage_id="Heat#0", title="Heat", text="Mann")])),
    st.just("converse"),
)  # fmt: skip

TOKENS = st.one_of(st.none(), st.integers(0, 90))
REPLIES = st.builds(
    Reply,
    text=st.sampled_from(["", "I search."]),
    finish_reason=st.sampled_from(["stop", "length"]),
    usage=st.builds(ChatUsage, prompt_tokens=TOKENS, completion_tokens=TOKENS, cached=st.booleans()),
    seconds=st.just(0.5),
    tool_calls=st.lists(st.just(ToolCall(call_id="c", name="search", arguments="{")), max_size=1),
    rejected=st.integers(1, 2),
)
SAID = st.one_of(
    st.builds(Said, model=st.just("stub"), reply=REPLIES, cost=st.one_of(st.none(), st.floats(0, 0.1))),
    st.builds(Said, model=st.just("stub"), reply=REPLIES, problem=st.just("it kept to no schema")),
    st.just(ModelCallError("too_long", "stub", None, "the context is full")),
    st.just(ModelCallError("server", "stub", None, "it broke")),
)


class Talking(World):
    """A world with a chat model, whose replies are given."""

    def __init__(self, said, **more):
        super().__init__(**more)
        self.said = iter(said)

    def perform(self, effect):
        if not isinstance(effect, Converse):
            return super().perform(effect)
        said = next(self.said)
        if isinstance(said, Exception):
            raise said
        return said


def policy_of(script):
    def policy(question):
        messages = [Message(role="system", content=PROMPT)]
        for call in script:
            if call == "converse":
                messages.append(Message(role="user", content=question.text))
                call = Converse(purpose="next call", messages=list(messages))
            yield call

    return policy


SEARCH = Search(query="Heat")
REFUSAL = Answer(text=None, passage_ids=[])
ANSWER = Answer(text="Michael Mann", passage_ids=["Heat#0"])
OPENINGS = [[], [SEARCH], [SEARCH, HEAT], [SEARCH, HEAT, MANN, ANSWER], [SEARCH, REFUSAL]]

FAULT = (Retrieve(qid="", query="", excluded=frozenset()), RuntimeError("the index is gone"))

PASS = st.tuples(
    st.tuples(st.sampled_from(OPENINGS), st.lists(CALLS, max_size=12)),
    st.lists(SAID, min_size=12, max_size=12),
    st.fixed_dictionaries({passage.text: st.sampled_from([0.2, 0.6, 0.95]) for passage in PASSAGES}),
    st.sampled_from([None, None, None, FAULT]),
)
LIMITS = st.builds(
    Limits, turns=st.integers(4, 14), tokens=st.sampled_from([150, 5000]), transcript=st.sampled_from([100, 5000]),
    seconds=st.sampled_from([None, 6.0]),
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.lists(PASS, min_size=1, max_size=4), LIMITS)
def test_every_trace_of_the_orchestrator_keeps_every_rule(passes, limits):
    earlier = []
    for number, ((first, script), said, entailments, fault) in enumerate(passes, start=1):
        world = Talking(said, entailments=entailments, proposals=[("Mann", 1.0)], fault=fault)
        trace = run(
            policy_of([*first, *script]),
            world,
            settings=msgspec.structs.replace(SETTINGS, limits=limits),
            pass_number=number,
            excluded=recorded_passages(earlier),
            earlier=earlier,
        )
        case = Case(trace, earlier, {prompt_id(PROMPT): PROMPT})
        assert [(name, problem) for name, rule in RULES.items() for problem in rule(case)] == []
        earlier = [*earlier, trace]
