"""Two passes over one question that keep every rule, with every kind of event."""

import hashlib

from msgspec.structs import replace

from calibrag.agents.gate import reason
from calibrag.records import Hit, NameCount
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

PROMPT = "You answer questions."
PROMPT_HASH = hashlib.sha256(PROMPT.encode()).hexdigest()
PROVENANCE = Provenance(release="0.1.0", code="c0de", settings="5e77", models={"policy": "stub"})


def condition(name, passed):
    return Condition(name=name, wanted="w", got="g", passed=passed)


def claim_of(passage_id, nugget_id, entailment, **more):
    recorded = dict(passage_id=passage_id, quotes=["q"], claim="c", entailment=entailment, verified=True)
    event = RecordEvent(**recorded, reason=None, nugget_id=nugget_id, **more)
    return event, Nugget(nugget_id=nugget_id, **recorded)


def answered(turn, text, passage_ids, confidence, ruling, **origin):
    """Return the two events of an answer, and its submission."""
    accepted = all(c.passed for c in ruling)
    asked = dict(turn=turn, text=text, passage_ids=passage_ids, **origin)
    gate = GateEvent(turn=turn, accepted=accepted, confidence=confidence, conditions=ruling, numbers={"support": 0.5})
    reasons = [reason(c) for c in ruling if not c.passed]
    submission = Submission(**asked, confidence=confidence, accepted=accepted, reasons=reasons)
    return AnswerEvent(**asked), gate, submission


_heat, _heat_nugget = claim_of("Heat#0", "n1", 0.9, turn=4, seconds=0.25, second_model=True)
_ali, _ali_nugget = claim_of("Ali#0", "n2", 0.4, turn=5)
_early, _early_gate, _early_submission = answered(
    7, "Mann", ["Heat#0"], 0.1, [condition("passages", True), condition("confidence", False)]
)
_late, _late_gate, _late_submission = answered(
    9, "Michael Mann", ["Heat#0"], 0.5, [condition("passages", True), condition("confidence", True)]
)

FIRST = Trace(
    collection="film",
    system="bitem",
    qid="q1",
    pass_number=1,
    excluded=[],
    events=[
        ModelEvent(
            turn=0,
            model="stub",
            purpose="next call",
            prompt=PROMPT_HASH,
            sent=["Who directed Heat?"],
            text="I search.",
            reasoning="Heat is a film.",
            calls=[ProposedCall(name="search", arguments='{"query": "Heat director"}')],
            finish_reason="tool_calls",
            tokens=30,
            prompt_tokens=20,
            completion_tokens=10,
            cost=0.002,
            seconds=0.5,
        ),
        SearchEvent(
            turn=1,
            query="Heat director",
            hits=[Hit("Heat#0", 1, 2.5), Hit("Ali#0", 2, 1.5)],
            sources=["lexical dense", "dense"],
            neighbours={"Heat#0": ["Heat#1"]},
            seconds=0.125,
        ),
        EntitySearchEvent(
            turn=2, name="Mann", hits=[Hit("Mann#0", 1, 1.25)], names=[NameCount(name="Ali", passages=1)]
        ),
        ReadEvent(turn=3, passage_id="Heat#1", question="Who?", sentences=["It was."], chosen_by="entailment"),
        _heat,
        _ali,
        RetractEvent(turn=6, nugget_id="n2", accepted=True, reason=None),
        _early,
        _early_gate,
        ErrorEvent(turn=8, call="search", problem="the query must not be empty", arguments='{"query": ""}'),
        ModelEvent(
            turn=8, model="reader", purpose="propose answers", tokens=12, candidates=["Mann"], probabilities=[1.0],
            cached=True,
        ),
        _late,
        _late_gate,
    ],
    nuggets=[_heat_nugget, replace(_ali_nugget, retracted=True)],
    submissions=[_early_submission, _late_submission],
    retrieved={"Heat#0": 2.5, "Ali#0": 1.5},
    answer="Michael Mann",
    confidence=0.5,
    confidence_rule="noisy_or_evidence",
    stop_reason="accepted",
    status="ok",
    usage=Usage(
        searches=1,
        entity_searches=1,
        tool_calls=9,
        rejected_calls=1,
        model_calls=2,
        cached_calls=1,
        tokens=42,
        entailments=3,
        second_entailments=1,
        cost=0.002,
        seconds=0.875,
    ),
    provenance=PROVENANCE,
)  # fmt: skip

_refusal, _refusal_gate, _refusal_submission = answered(2, None, [], 0.0, [condition("passages", True)])
_filed, _filed_gate, _filed_submission = answered(
    2, "Michael Mann", ["Mann#0"], 0.3, [], origin="fallback", source_pass=1
)

SECOND = Trace(
    collection="film",
    system="bitem",
    qid="q1",
    pass_number=2,
    excluded=["Ali#0", "Heat#0"],
    events=[
        SearchEvent(turn=1, query="Heat director", hits=[Hit("Mann#0", 1, 1.0)]),
        _refusal,
        _refusal_gate,
        RecordEvent(
            turn=2, passage_id="Mann#0", quotes=[], claim="c", entailment=0.8, verified=True, reason="support",
            nugget_id=None,
        ),
        _filed,
        _filed_gate,
    ],
    nuggets=[],
    submissions=[_refusal_submission, _filed_submission],
    retrieved={"Mann#0": 1.0},
    answer="Michael Mann",
    confidence=0.3,
    confidence_rule="noisy_or_evidence",
    stop_reason="accepted",
    status="ok",
    usage=Usage(searches=1, tool_calls=2, entailments=1),
    provenance=PROVENANCE,
)  # fmt: skip

THIRD = Trace(
    collection="film",
    system="bitem",
    qid="q1",
    pass_number=3,
    excluded=["Ali#0", "Heat#0"],
    events=[ErrorEvent(turn=1, call="effect", problem="RuntimeError: index gone")],
    nuggets=[],
    submissions=[],
    retrieved={},
    answer=None,
    confidence=None,
    confidence_rule="noisy_or_evidence",
    stop_reason="error",
    status="error",
    usage=Usage(tool_calls=1),
    provenance=PROVENANCE,
)

FOURTH = Trace(
    collection="film",
    system="bitem",
    qid="q1",
    pass_number=4,
    excluded=["Ali#0", "Heat#0"],
    events=[],
    nuggets=[],
    submissions=[],
    retrieved={},
    answer=None,
    confidence=None,
    confidence_rule="noisy_or_evidence",
    stop_reason="skipped",
    status="skipped",
    usage=Usage(),
    provenance=PROVENANCE,
)

TRACES = [FIRST, SECOND, THIRD, FOURTH]
