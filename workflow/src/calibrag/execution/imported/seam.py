"""What every format of logs turns its lines into."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from calibrag.records import Question
from calibrag.trace import (
    AnswerEvent,
    Aspect,
    ErrorEvent,
    ModelEvent,
    SearchEvent,
    Submission,
    Trace,
    TraceEvent,
    Usage,
)


class Logged(NamedTuple):
    """A question of a log, the passes over it, first to last, and what the log itself says of each pass's answer.

    ``labels`` holds, for each pass, name of a label -> right; it is kept apart from the traces, so that no signal can
    read it.
    """

    question: Question
    traces: list[Trace]
    labels: list[Mapping[str, bool]]


class Format(NamedTuple):
    """A format of logs.

    Parameters
    ----------
    passes
        The most passes over a question that a log holds; None: any number.
    read
        Takes the file and the name of the import, yields its questions; raises InputError that names file and line.
    """

    passes: int | None
    read: Callable[[str | Path, str], Iterator[Logged]]


def trace_of(
    collection: str,
    qid: str,
    number: int,
    answer: str | None,
    events: Sequence[TraceEvent],
    recorded: Sequence[Aspect],
    *,
    confidence: float | None = None,
    telemetry: Mapping[str, float] | None = None,
) -> Trace:
    """Return the trace of a pass that ended with an answer; an empty one, or None, is a refusal.

    The answer is put after the events, in the last one's turn or the turn after.
    """
    text = answer.strip() if answer and answer.strip() else None
    turn = max((event.turn for event in events), default=0)
    turn += not any(isinstance(event, ModelEvent) and event.turn == turn for event in events)
    submitted = AnswerEvent(turn=turn, text=text, passage_ids=[])
    submission = Submission(turn=turn, text=text, passage_ids=[], confidence=confidence, accepted=True, reasons=[])
    return _trace(
        collection, qid, number, [*events, submitted], recorded, dict(telemetry or {}),
        submissions=[submission], answer=text, confidence=confidence, stop_reason="accepted",
    )  # fmt: skip


def halted_trace(
    collection: str, qid: str, number: int, events: Sequence[TraceEvent], recorded: Sequence[Aspect]
) -> Trace:
    """Return the trace of a pass that ran out of turns without an answer."""
    return _trace(
        collection, qid, number, list(events), recorded, {},
        submissions=[], answer=None, confidence=None, stop_reason="turn_limit",
    )  # fmt: skip


def _trace(collection, qid, number, events, recorded, telemetry, **end) -> Trace:
    models = [event for event in events if isinstance(event, ModelEvent)]
    begun = {event.turn for event in events if not isinstance(event, ModelEvent)}
    known = [event.tokens for event in models if event.tokens is not None]
    return Trace(
        collection=collection,
        system="imported",
        qid=qid,
        pass_number=number,
        excluded=[],
        events=events,
        nuggets=[],
        retrieved={},
        confidence_rule="imported",
        status="ok",
        usage=Usage(
            searches=sum(isinstance(event, SearchEvent) for event in events),
            tool_calls=len(begun),
            rejected_calls=sum(isinstance(event, ErrorEvent) for event in events),
            model_calls=len(models),
            tokens=sum(known),
        ),
        recorded=list(recorded),
        telemetry=telemetry,
        **end,
    )
