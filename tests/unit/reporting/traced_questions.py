"""Questions with traces that show every kind of event and every way to end, some full of hostile text."""

from __future__ import annotations

from gold_labels import gold_labels
from rule_settings import rule_settings

from calibrag.records import Hit, NameCount, Passage, Question
from calibrag.runs.answer_runs import file_answers
from calibrag.trace import (
    AnswerEvent,
    Condition,
    EntitySearchEvent,
    ErrorEvent,
    GateEvent,
    ModelEvent,
    Nugget,
    ProposedCall,
    Provenance,
    ReadEvent,
    RecordEvent,
    RetractEvent,
    SearchEvent,
    Submission,
    Trace,
    Usage,
)

SCRIPT = "<script>document.title = 'RAN'; alert(1)</script>"
HOSTILE = [
    SCRIPT,
    "</script></style></title></textarea><img src=x onerror=\"document.title='RAN'\">",
    "\" onmouseover=\"document.title='RAN'\" x='",
    "' autofocus onfocus='document.title=\"RAN\"'",
    "javascript:document.title='RAN'",
    "{{ 7 * 7 }} {% raw %} ${7*7} <!-- --> ]]> &lt;b&gt; &amp;amp;",
    "right to left \u202e override \u2066 isolate \u200b nothing \0 null \x1b[31m escape",
    "W" * 3000,
    "<svg onload=\"document.title='RAN'\"><a href=\"javascript:document.title='RAN'\">x</a></svg>",
]

MADE_BY = Provenance(
    release="0.4.0",
    code="1f2e3d4c5b6a7988",
    settings="aa01bb02cc03dd04",
    models={"reader": "package:small/reader.gguf", "verifier": "adapters/verifier"},
)


def passage(passage_id: str, title: str, text: str, heading: str | None = None, kind="text") -> Passage:
    return Passage(
        passage_id=passage_id,
        doc_id=passage_id.split("#")[0],
        title=title,
        heading=heading,
        kind=kind,
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
    )


PASSAGES = {
    one.passage_id: one
    for one in [
        passage(
            "Ford#0",
            "Ford",
            "John Ford (February 1, 1894 – August 31, 1973) was an American film director and naval officer. He made "
            "more than 130 films in a career of more than 50 years, and won four Academy Awards as best director, "
            "one of them for The Quiet Man (1952).",
        ),
        passage(
            "Quiet_Man#0",
            "The Quiet Man",
            "The Quiet Man is a 1952 American romantic comedy-drama film directed and pro-\nduced by John Ford. "
            "It stars John Wayne, Maureen O’Hara and Barry Fitzgerald.",
            heading="Lead",
        ),
        passage(
            "Quiet_Man#1",
            "The Quiet Man",
            "Award | Category | Winner\nAcademy Awards | Best Director | John Ford\nAcademy Awards | Cinematography |"
            " Winton C. Hoch and Archie Stout",
            heading="Awards",
            kind="table",
        ),
        passage("Wayne#0", "John Wayne", "John Wayne acted in 179 films. He was born in Winterset, Iowa."),
        passage("Long#0", "A long page", "A word and " * 4000),
        *(passage(f"Evil#{n}", text[:90], f"Before {text} after", heading=text[:60]) for n, text in enumerate(HOSTILE)),
    ]
}


def hits(*passage_ids: str, best: float = 9.5) -> list[Hit]:
    return [Hit(passage_id=p, rank=rank, score=best - rank * 1.25) for rank, p in enumerate(passage_ids, start=1)]


def gate(turn, confidence, *failed, numbers=None, fallback=False, answered=True) -> GateEvent:
    wanted = {
        "passages": "passages that were retrieved in this pass",
        "format": "one line of text that is not blank",
        "evidence": "2 verified nuggets, or one entailment of at least 0.65",
        "confidence": "at least 0.2",
    }
    got = {
        "passages": "1 known",
        "format": "1 lines",
        "evidence": f"{0 if 'evidence' in failed else 2} verified",
        "confidence": f"{confidence:.3f}",
    }
    names = [] if fallback else list(wanted) if answered else ["passages"]
    conditions = [Condition(name=n, wanted=wanted[n], got=got[n], passed=n not in failed) for n in names]
    return GateEvent(
        turn=turn, accepted=not failed, confidence=confidence, conditions=conditions, numbers=numbers or {}, seconds=0.0
    )


def trace(qid, number=1, *, events=(), answer=None, confidence=None, stop="accepted", status="ok", **more) -> Trace:
    submissions = [
        Submission(
            turn=event.turn,
            text=event.text,
            passage_ids=event.passage_ids,
            confidence=ruling.confidence,
            accepted=ruling.accepted,
            reasons=[c.name for c in ruling.conditions if not c.passed],
            origin=event.origin,
            source_pass=event.source_pass,
        )
        for event, ruling in zip(events, events[1:], strict=False)
        if isinstance(event, AnswerEvent)
    ]
    values = {"nuggets": [], "excluded": [], "usage": Usage(), "provenance": MADE_BY} | more
    return Trace(
        collection="film",
        system="bitem",
        qid=qid,
        pass_number=number,
        events=list(events),
        submissions=submissions,
        retrieved={},
        answer=answer,
        confidence=confidence,
        confidence_rule="noisy_or_evidence",
        stop_reason=stop,
        status=status,
        **values,
    )


def everything(qid: str) -> Trace:
    """A pass with each kind of event: rejected, retracted, turned back, and right in the end."""
    quote = "directed and produced by John Ford"
    events = [
        SearchEvent(
            turn=1,
            seconds=0.41,
            query="director of The Quiet Man",
            hits=hits("Quiet_Man#0", "Ford#0", "Wayne#0", "Long#0"),
            sources=["lexical dense", "dense", "graph", "lexical"],
            neighbours={"Quiet_Man#0": ["Quiet_Man#1"]},
            graph_names=["The Quiet Man", "John Ford"],
        ),
        EntitySearchEvent(
            turn=2,
            seconds=0.02,
            name="John Ford",
            hits=hits("Ford#0"),
            names=[NameCount(name="John Wayne", passages=3)],
        ),
        ReadEvent(
            turn=3,
            seconds=0.2,
            passage_id="Quiet_Man#0",
            question="Who directed it?",
            sentences=["The Quiet Man is a 1952 American romantic comedy-drama film directed by John Ford."],
            chosen_by="entailment",
        ),
        ModelEvent(
            turn=3,
            seconds=1.5,
            model="package:small/reader.gguf",
            purpose="propose answers",
            tokens=287,
            candidates=["Wayne", "John Ford", "1952", "Ireland", "four"],
            probabilities=[0.21, 0.64, 0.1, 0.04, 0.01],
        ),
        ErrorEvent(
            turn=4, call="search", problem="the query must not be empty", arguments='{"query": "", "neighbours": 0}'
        ),
        RecordEvent(
            turn=5,
            seconds=0.1,
            passage_id="Quiet_Man#0",
            quotes=["a film by John Huston"],
            claim="The Quiet Man is a film by John Huston.",
            entailment=None,
            verified=False,
            reason="these quotes do not stand in Quiet_Man#0: ['a film by John Huston']",
            nugget_id=None,
        ),
        RecordEvent(
            turn=6,
            passage_id="Wayne#0",
            quotes=["John Wayne acted"],
            claim="John Wayne directed The Quiet Man.",
            entailment=0.12,
            verified=False,
            reason="the passage must entail the claim with at least 0.5 (got 0.120)",
            nugget_id="n1",
        ),
        RetractEvent(turn=7, nugget_id="n1", accepted=True, reason=None),
        RetractEvent(turn=8, nugget_id="n9", accepted=False, reason="no nugget 'n9'; recorded are ['n1']"),
        AnswerEvent(turn=9, text="John Wayne", passage_ids=["Wayne#0"]),
        gate(9, 0.05, "evidence", "confidence", numbers={"support": 0.05}),
        RecordEvent(
            turn=10,
            passage_id="Quiet_Man#0",
            quotes=[quote, "John Ford"],
            claim="John Ford directed The Quiet Man.",
            entailment=0.91,
            verified=True,
            reason=None,
            nugget_id="n2",
            second_model=True,
        ),
        ModelEvent(
            turn=11,
            model="some-model r1",
            purpose="next call",
            prompt="ab" * 32,
            sent=["Question: Who directed The Quiet Man?", "A result. " * 3000],
            text="I know enough.",
            reasoning="The passage says it. " * 40,
            calls=[ProposedCall(name="answer", arguments='{"text": "John Ford", "passage_ids": ["Quiet_Man#0"]}')],
            finish_reason="tool_calls",
            tokens=1520,
            prompt_tokens=1400,
            completion_tokens=120,
            cost=0.00123,
            cached=True,
            attempts=3,
            rejected=1,
        ),
        AnswerEvent(turn=11, text="John Ford", passage_ids=["Quiet_Man#0"]),
        gate(
            11,
            0.62,
            numbers={
                "n2 entailment": 0.91,
                "n2 overlap": 1.0,
                "n2 evidence": 0.91,
                "support": 0.91,
                "share of full evidence": 0.6667,
                "discount for answers turned back": 0.9,
            },
        ),
    ]
    nuggets = [
        Nugget(
            nugget_id="n1",
            passage_id="Wayne#0",
            quotes=["John Wayne acted"],
            claim="John Wayne directed The Quiet Man.",
            entailment=0.12,
            verified=False,
            retracted=True,
        ),
        Nugget(
            nugget_id="n2",
            passage_id="Quiet_Man#0",
            quotes=[quote],
            claim="John Ford directed The Quiet Man.",
            entailment=0.91,
            verified=True,
        ),
    ]
    usage = Usage(searches=1, entity_searches=1, tool_calls=11, tokens=1807, cost=0.00123, seconds=2.3)
    return trace(qid, events=events, answer="John Ford", confidence=0.62, nuggets=nuggets, usage=usage)


def fallback(qid: str, number: int) -> Trace:
    """A pass that refuses, and takes over the first pass's answer."""
    events = [
        SearchEvent(turn=1, query="The Quiet Man", hits=hits("Ford#0")),
        AnswerEvent(turn=2, text=None, passage_ids=[]),
        gate(2, 0.0, answered=False),
        RecordEvent(
            turn=2,
            passage_id="Ford#0",
            quotes=[],
            claim="The director is John Ford.",
            entailment=0.7,
            verified=True,
            reason="support of the answer of pass 1",
            nugget_id=None,
        ),
        AnswerEvent(turn=2, text="John Ford", passage_ids=["Ford#0"], origin="fallback", source_pass=1),
        gate(2, 0.23, fallback=True, numbers={"support": 0.7, "share of full evidence": 0.3333}),
    ]
    return trace(
        qid, number, events=events, answer="John Ford", confidence=0.23, excluded=["Gone#4", "Quiet_Man#0", "Wayne#0"]
    )


def short(qid: str, answer: str | None, confidence: float, number: int = 1, passage_id: str = "Ford#0") -> Trace:
    """A pass of a search, a model and an accepted answer."""
    events = [
        SearchEvent(turn=1, query=answer or "nothing", hits=hits(passage_id), sources=["lexical"]),
        ModelEvent(turn=1, model="r", purpose="propose answers", candidates=[answer or ""], probabilities=[1.0]),
        AnswerEvent(turn=2, text=answer, passage_ids=[passage_id]),
        gate(2, confidence, numbers={"support": confidence}, answered=answer is not None),
    ]
    return trace(qid, number, events=events, answer=answer, confidence=confidence, usage=Usage(searches=1))


def hostile(qid: str, text: str, passage_id: str) -> Trace:
    """A pass in which every text is hostile."""
    numbers = {"n1 " + text[:200]: 0.5, text: 0.5}
    events = [
        SearchEvent(turn=1, query=text, hits=hits(passage_id), sources=[text[:40]], graph_names=[text]),
        EntitySearchEvent(turn=2, name=text, hits=hits(passage_id), names=[NameCount(name=text, passages=1)]),
        ReadEvent(turn=3, passage_id=passage_id, question=text, sentences=[text], chosen_by="lexical"),
        ModelEvent(
            turn=3,
            model=text,
            purpose=text,
            prompt=text,
            sent=[text],
            text=text,
            reasoning=text,
            calls=[ProposedCall(name=text, arguments=text)],
            finish_reason=text,
            candidates=[text],
            probabilities=[1.0],
        ),
        RecordEvent(
            turn=4,
            passage_id=passage_id,
            quotes=[text, "after"],
            claim=text,
            entailment=0.5,
            verified=True,
            reason=text,
            nugget_id="n1",
        ),
        RetractEvent(turn=5, nugget_id=text, accepted=False, reason=text),
        ErrorEvent(turn=6, call=text, problem=text, arguments=text),
        AnswerEvent(turn=7, text=text, passage_ids=[passage_id, text]),
        GateEvent(
            turn=7,
            accepted=True,
            confidence=0.5,
            conditions=[Condition(name="evidence", wanted=text, got=text, passed=True)],
            numbers=numbers,
        ),
    ]
    nugget = Nugget(nugget_id="n1", passage_id=passage_id, quotes=["after"], claim=text, entailment=0.5, verified=True)
    return trace(qid, events=events, answer=text, confidence=0.5, nuggets=[nugget], excluded=[text])


def failed(qid: str) -> Trace:
    """A pass that a fault ended."""
    events = [
        SearchEvent(turn=1, query="anything", hits=[]),
        ErrorEvent(turn=1, call="effect", problem="ServerError: 500 from the model"),
    ]
    return trace(qid, events=events, stop="error", status="error")


def question(qid: str, text: str, *answers: str, type: str | None = "bridge") -> Question:
    return Question(qid=qid, text=text, type=type, answers=list(answers))


def skipped(qid: str, number: int) -> Trace:
    return trace(qid, number, stop="skipped", status="skipped")


QUESTIONS = [
    question("q-right", "Who directed The Quiet Man?", "John Ford"),
    question("q-wrong", "Where was John Wayne born?", "Winterset, Iowa", type="comparison"),
    question("q-refused", "Who played the third brother?", "Nobody"),
    question("q-failed", "What went wrong here?", "All of it"),
    question("q-limit", "How many films did John Wayne act in?", "179"),
    question("q-none", "Was this question ever asked?", "No"),
    *(question(f"evil {n} {text[:50]}", f"What is {text}?", text) for n, text in enumerate(HOSTILE)),
]

TRACES = {
    "q-right": [
        everything("q-right"),
        short("q-right", "Winton C. Hoch", 0.31, 2, "Quiet_Man#1"),
        fallback("q-right", 3),
        skipped("q-right", 4),
    ],
    "q-wrong": [short("q-wrong", "Ireland", 0.48), short("q-wrong", "ireland", 0.52, 2)],
    "q-refused": [short("q-refused", None, 0.0)],
    "q-failed": [failed("q-failed")],
    "q-limit": [trace("q-limit", events=[SearchEvent(turn=9, query="films", hits=[])], stop="turn_limit")],
    **{
        one.qid: [hostile(one.qid, text, f"Evil#{n}")]
        for n, (one, text) in enumerate(zip(QUESTIONS[6:], HOSTILE, strict=True))
    },
}

FILED = file_answers(TRACES, {}, rule_settings(answers=["AC-1", "AC-2"])).entries
RIGHT = gold_labels(QUESTIONS, TRACES, FILED).right
RUNS = {run: [entry for entry in FILED if entry.run == run] for run in ("AC-1", "AC-2")}

QRELS = {"q-right": {"Quiet_Man#0": 2, "Ford#0": 1, "Wayne#0": 0}}
