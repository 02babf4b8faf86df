"""A chat model in the lead: what it is told, how its turns are read, and where a pass ends."""

import json
from pathlib import Path

import msgspec
import pytest
from scripted import QUESTION, SETTINGS, World, run

from calibrag.agents.pass_record import prompt_id
from calibrag.agents.policies.llm import LlmPolicy, LlmSettings, QuestionTypes
from calibrag.agents.protocol import Converse, Said
from calibrag.agents.settings import Limits
from calibrag.errors import InputError, ModelCallError
from calibrag.models.chat.seam import ChatUsage, Reply, ToolCall
from calibrag.trace import AnswerEvent, ErrorEvent, ModelEvent, RecordEvent

PROMPTS = Path(__file__).parents[3] / "workflow" / "resources" / "prompts"
ADVICE = {"simple": "Answer with the name.", "comparison": "Answer yes or no."}
SURE = {"Heat is a 1995 film. It was directed by Michael Mann. It was shot in Los Angeles.": 0.95}
SEARCH = ("search", {"query": "Heat", "neighbours": 0})
RECORD = (
    "record",
    {"passage_id": "Heat#0", "quotes": ["directed by Michael Mann"], "claim": "Michael Mann directed Heat."},
)
ANSWER = ("answer", {"text": "Michael Mann", "passage_ids": ["Heat#0"]})


def policy(style="json_schema", type_prompt=None, **more):
    types = QuestionTypes(advice=ADVICE, prompt=type_prompt and str(PROMPTS / type_prompt))
    settings = dict(
        style=style,
        prompt=str(PROMPTS / "evidence_agent.md"),
        passages_shown=2,
        longest_string=None,
        longest_list=None,
        types=types,
    )
    return LlmPolicy(LlmSettings(**(settings | more)))


def said(reply, cost=None):
    usage = ChatUsage(prompt_tokens=10, completion_tokens=5)
    return Said(model="m@1", reply=Reply(finish_reason="stop", usage=usage, seconds=0.5, **reply), cost=cost)


def by_schema(call, reasoning="I think."):
    parsed = {"reasoning": reasoning, "call": call and {"tool": call[0], **call[1]}}
    return said({"text": json.dumps(parsed), "parsed": parsed})


def by_tools(*calls):
    made = [ToolCall(call_id=f"c{n}", name=c[0], arguments=json.dumps(c[1])) for n, c in enumerate(calls)]
    return said({"text": "", "tool_calls": made, "reasoning": "I think."})


TURNS = {"json_schema": by_schema, "tools": by_tools}


def asked(world):
    return [effect for effect in world.asked if isinstance(effect, Converse)]


@pytest.mark.parametrize("style", TURNS)
def test_it_searches_records_and_answers_in_both_styles(style):
    world = World(SURE, turns=map(TURNS[style], (SEARCH, RECORD, ANSWER)))
    trace = run(policy(style), world)
    assert (trace.answer, trace.stop_reason, trace.status) == ("Michael Mann", "accepted", "ok")
    assert [type(event).__name__ for event in trace.events] == [
        "ModelEvent", "SearchEvent", "ModelEvent", "RecordEvent", "ModelEvent", "AnswerEvent", "GateEvent"
    ]  # fmt: skip
    assert [bool(effect.tools) for effect in asked(world)] == [style == "tools"] * 3
    assert [effect.schema is None for effect in asked(world)] == [style == "tools"] * 3


@pytest.mark.parametrize("style", TURNS)
def test_the_transcript_is_on_record_once(style):
    policy_ = policy(style)
    trace = run(policy_, World(SURE, turns=map(TURNS[style], (SEARCH, RECORD, ANSWER))))
    calls = [event for event in trace.events if isinstance(event, ModelEvent)]
    assert [len(event.sent) for event in calls] == [1, 1, 1]
    assert QUESTION.text in calls[0].sent[0]
    assert "[Heat#0]" in calls[1].sent[0] and "[Ali#0]" not in calls[1].sent[0]  # two passages are shown
    assert calls[2].sent == ["recorded and verified as n1"]
    assert {event.prompt for event in calls} == {prompt_id(policy_.prompts[0])}
    assert (trace.usage.model_calls, trace.usage.tokens) == (3, 45)


def test_tool_results_answer_the_calls_by_their_ids():
    world = World(SURE, turns=[by_tools(SEARCH, RECORD), by_tools(ANSWER)])
    run(policy("tools"), world)
    last = asked(world)[-1].messages
    assert [message.role for message in last[2:]] == ["assistant", "tool", "tool"]
    assert [message.call_id for message in last[3:]] == ["c0", "c1"]


def test_an_answer_turned_back_is_answered_with_every_failed_condition():
    world = World(SURE, turns=map(by_schema, (SEARCH, ANSWER, RECORD, ANSWER)))
    trace = run(policy(), world)
    told = asked(world)[2].messages[-1].content
    assert told.startswith("turned back: evidence must be") and "confidence must be" in told
    assert [s.accepted for s in trace.submissions] == [False, True]


def test_a_turn_without_a_call_ends_the_pass():
    trace = run(policy(), World(SURE, turns=[by_schema(SEARCH), by_schema(None)]))
    assert (trace.stop_reason, trace.answer) == ("no_call", None)
    trace = run(policy("tools"), World(SURE, turns=[by_tools(SEARCH), by_tools()]))
    assert trace.stop_reason == "no_call"


def test_a_malformed_call_is_recorded_with_its_reason_and_the_model_is_told():
    odd = said({"text": "", "tool_calls": [ToolCall(call_id="x", name="search", arguments='{"query": 1')]})
    world = World(SURE, turns=[odd, by_tools(("serch", {})), by_tools()])
    trace = run(policy("tools"), world)
    errors = [event for event in trace.events if isinstance(event, ErrorEvent)]
    assert [(event.call, event.arguments) for event in errors] == [("search", '{"query": 1'), ("serch", "{}")]
    assert trace.usage.rejected_calls == 2
    assert asked(world)[1].messages[-1].content.startswith("rejected: the arguments of search")
    assert "the tools are search, entity_search" in asked(world)[2].messages[-1].content


def test_a_reply_that_keeps_to_no_schema_costs_a_turn_and_an_endless_row_of_them_ends():
    never = [msgspec.structs.replace(said({"text": "So", "rejected": 3}), problem="not JSON")] * 99
    trace = run(policy(), World(turns=never))
    assert (trace.stop_reason, trace.status) == ("turn_limit", "ok")
    assert trace.usage.rejected_calls == SETTINGS.limits.turns
    assert trace.usage.tokens == 15 * SETTINGS.limits.turns
    assert {event.text for event in trace.events if isinstance(event, ModelEvent)} == {"So"}


def test_a_made_up_quote_and_an_unknown_passage_are_rejected_with_reasons():
    made_up = ("record", {"passage_id": "Heat#0", "quotes": ["directed by Al Pacino"], "claim": "c"})
    unknown = ("read", {"passage_id": "Jaws#0", "question": "?"})
    world = World(SURE, turns=map(by_schema, (SEARCH, made_up, unknown, None)))
    trace = run(policy(), world)
    assert trace.nuggets == []
    [record] = [event for event in trace.events if isinstance(event, RecordEvent)]
    assert "do not stand in" in record.reason
    assert asked(world)[-1].messages[-1].content.startswith("rejected: passage 'Jaws#0' was not retrieved")


def test_a_transcript_past_its_limit_ends_the_pass():
    limits = Limits(turns=20, tokens=1000, transcript=15, seconds=None)
    settings = msgspec.structs.replace(SETTINGS, limits=limits)
    trace = run(policy(), World(SURE, turns=[by_schema(SEARCH)]), settings=settings)
    assert trace.stop_reason == "token_limit"


def test_work_past_its_limit_ends_the_pass():
    limits = Limits(turns=20, tokens=1000, transcript=1000, seconds=1.5)
    settings = msgspec.structs.replace(SETTINGS, limits=limits)
    trace = run(policy(), World(SURE, turns=map(by_schema, [SEARCH] * 9)), settings=settings)
    assert trace.stop_reason == "time_limit"
    assert trace.usage.seconds == sum(event.seconds for event in trace.events)


def test_a_context_that_is_full_ends_the_pass_and_is_no_error():
    full = ModelCallError("too_long", "m", "h", "it exceeds the context")
    trace = run(policy(), World(SURE, turns=[by_schema(SEARCH), full]))
    assert (trace.stop_reason, trace.status) == ("context_limit", "ok")
    assert "exceeds the context" in trace.events[-1].problem


def test_a_context_too_small_for_the_question_is_an_error():
    full = ModelCallError("too_long", "m", "h", "it exceeds the context")
    assert run(policy(), World(turns=[full])).status == "error"


def test_another_fault_of_the_server_is_the_question_s_error():
    trace = run(policy(), World(turns=[ModelCallError("server", "m", "h", "it is down", status=500)]))
    assert (trace.stop_reason, trace.status) == ("error", "error")
    assert "HTTP 500" in trace.events[-1].problem


def test_the_type_comes_from_the_question_or_from_the_model_with_its_advice():
    world = World(SURE, turns=[by_schema(None)])
    typed = msgspec.structs.replace(QUESTION, type="simple")
    steps = policy(type_prompt="question_type.md")(typed)
    assert "Type: simple. Answer with the name." in next(steps).messages[-1].content
    strange = msgspec.structs.replace(QUESTION, type="bridge")
    assert next(policy()(strange)).messages[-1].content.endswith("Type: bridge.")
    world = World(SURE, turns=[said({"text": "{}", "parsed": {"type": "comparison"}}), by_schema(None)])
    trace = run(policy(type_prompt="question_type.md"), world)
    assert [event.purpose for event in trace.events] == ["question type", "next call"]
    assert asked(world)[0].schema["properties"]["type"] == {"enum": ["simple", "comparison"]}
    assert "Answer yes or no." in asked(world)[1].messages[-1].content


def test_each_pass_is_a_further_sample():
    worlds = [World(SURE, turns=[by_schema(None)]) for _ in range(3)]
    for number, world in enumerate(worlds, 1):
        run(policy(), world, pass_number=number)
    assert [asked(world)[0].sample for world in worlds] == [0, 1, 2]


def test_costs_add_up():
    world = World(SURE, turns=[msgspec.structs.replace(by_schema(call), cost=0.25) for call in (SEARCH, None)])
    assert run(policy(), world).usage.cost == 0.5


def test_text_of_passages_stays_data_in_the_transcript():
    placeholder = World({}, turns=[by_schema(("search", {"query": "{{advice}}", "neighbours": 0})), by_schema(None)])
    trace = run(policy(), placeholder)
    assert trace.events[1].query == "{{advice}}"


def test_a_prompt_that_puts_the_question_into_the_system_message_is_refused(tmp_path):
    (tmp_path / "p.md").write_text(
        "placeholders: tools, question, advice\n## system\n{{tools}} {{question}}\n{{advice}}\n"
    )
    with pytest.raises(InputError, match="under '## user'"):
        policy(prompt=str(tmp_path / "p.md"))


def test_answers_given_are_on_record_as_submitted():
    trace = run(policy(), World(SURE, turns=map(by_schema, (("answer", {"text": None, "passage_ids": []}),))))
    [answer] = [event for event in trace.events if isinstance(event, AnswerEvent)]
    assert (answer.text, trace.stop_reason) == (None, "accepted")
