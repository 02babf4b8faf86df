"""What a reader of logs yields, and how it makes questions and traces of what a log holds."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from calibrag.records import Question
from calibrag.trace import (
    AnswerEvent,
    Aspect,
    EntitySearchEvent,
    ErrorEvent,
    ModelEvent,
    SearchEvent,
    Submission,
    Trace,
    TraceEvent,
    Usage,
)

UNNAMED = "not recorded"
"""The name of a model where the log does not tell it."""


class Verdict(NamedTuple):
    """What the log itself says about a pass, such as ``em``: 1 right, 0 wrong, or a score. No signal may read it."""

    pass_number: int
    name: str
    value: float


class Logged(NamedTuple):
    """A question of a log, the passes over it, first to last (one that the log lacks is left out), and its verdicts."""

    question: Question
    traces: list[Trace]
    verdicts: list[Verdict] = []


class Pass(NamedTuple):
    """Which pass a trace is of."""

    collection: str
    qid: str
    number: int


def question(qid: str, text: str, answers: Collection[str]) -> Question:
    """Return a question without support, since logs name no documents; gold answers that come twice are kept once."""
    return Question(qid=qid, text=text, answers=list(dict.fromkeys(answers)))


def qid_of(text: str) -> str:
    """Return the id of a question whose log has none: 16 hex digits of the SHA-256 of its text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def trace(
    of: Pass,
    events: list[TraceEvent],
    recorded: Iterable[Aspect],
    telemetry: Mapping[str, float] | None = None,
    confidence: float | None = None,
    stop_reason: Literal["no_call", "turn_limit", "error"] = "no_call",
) -> Trace:
    """Return the trace of a pass.

    Parameters
    ----------
    events
        Where the last one is an answer, it is the answer of the pass, and accepted; blank text is a refusal.
    recorded
        What the log holds of this pass beside its answer.
    confidence
        What the system itself said of its answer, in [0, 1]; None where the log does not tell.
    stop_reason
        Why a pass without an answer ended.
    """
    submissions = []
    if events and isinstance(events[-1], AnswerEvent):
        last = events[-1]
        submissions = [
            Submission(turn=last.turn, text=last.text, passage_ids=[], confidence=confidence, accepted=True, reasons=[])
        ]
    return Trace(
        collection=of.collection,
        system="imported",
        qid=of.qid,
        pass_number=of.number,
        excluded=[],
        events=events,
        nuggets=[],
        submissions=submissions,
        retrieved={},
        answer=submissions[0].text if submissions else None,
        confidence=confidence if submissions else None,
        confidence_rule="as logged",
        stop_reason="accepted" if submissions else stop_reason,
        status="error" if stop_reason == "error" and not submissions else "ok",
        usage=_usage(events, failed=stop_reason == "error" and not submissions),
        recorded=sorted(recorded),
        telemetry={name: float(value) for name, value in (telemetry or {}).items()},
    )


def answer(turn: int, text: str | None) -> AnswerEvent:
    """Return the event of an answer; blank text is a refusal, as None is."""
    return AnswerEvent(turn=turn, text=text if text is not None and text.strip() else None, passage_ids=[])


def _usage(events: list[TraceEvent], failed: bool) -> Usage:
    """Return the counts of the events; each call but those of models takes a turn."""
    models = [event for event in events if isinstance(event, ModelEvent)]
    return Usage(
        searches=sum(isinstance(event, SearchEvent) for event in events),
        entity_searches=sum(isinstance(event, EntitySearchEvent) for event in events),
        tool_calls=len({event.turn for event in events if not isinstance(event, ModelEvent)}),
        # a fault of the whole pass is no rejected call
        rejected_calls=sum(isinstance(event, ErrorEvent) for event in events) - failed,
        model_calls=len(models),
        tokens=sum(event.tokens or 0 for event in models),
        seconds=math.fsum(event.seconds for event in events),
    )
