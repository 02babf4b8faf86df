"""Our own plain format for logs of any system: one question a line, with what is known of each pass over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from calibrag.execution.imported.seam import Logged, trace_of
from calibrag.records import Question, Record, read_jsonl
from calibrag.trace import Aspect, ModelEvent, SearchEvent, TraceEvent


class LoggedPass(Record, kw_only=True):
    """One pass. What is null or left out was not recorded; an empty list says that there was none.

    Parameters
    ----------
    answer
        None for a refusal.
    confidence
        The system's own, in [0, 1].
    reasoning
        What the model wrote, one text a turn.
    searches
        What was searched for.
    tokens
        Prompt and reply together, over the pass.
    telemetry
        Further numbers by name, each a signal.
    labels
        Name -> whether the answer is right, as the log itself says.
    """

    answer: str | None
    confidence: float | None = None
    reasoning: list[str] | None = None
    searches: list[str] | None = None
    tokens: int | None = None
    telemetry: dict[str, float] = {}
    labels: dict[str, bool] = {}


class Line(Record, kw_only=True):
    """A question with its gold answers and its passes, first to last."""

    qid: str
    question: str
    gold: list[str]
    type: str | None = None
    passes: list[LoggedPass]


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions with their passes."""
    for line in read_jsonl(path, Line):
        question = Question(qid=line.qid, text=line.question, type=line.type, answers=line.gold)
        traces = [_trace(collection, line.qid, number, one) for number, one in enumerate(line.passes, start=1)]
        yield Logged(question, traces, [one.labels for one in line.passes])


def _trace(collection: str, qid: str, number: int, one: LoggedPass):
    recorded: list[Aspect] = []
    if one.reasoning is not None:
        recorded += ["reasoning", "turns"]
    if one.tokens is not None:
        recorded.append("tokens")
    texts = one.reasoning or ([None] if one.tokens is not None else [])
    # tokens are known of the pass as a whole: the last turn carries them
    spent = [None] * (len(texts) - 1) + [one.tokens]
    events: list[TraceEvent] = [
        ModelEvent(turn=turn, model=collection, purpose="next call", text=text, tokens=tokens)
        for turn, (text, tokens) in enumerate(zip(texts, spent[: len(texts)], strict=True), start=1)
    ]
    if one.searches is not None:
        recorded.append("searches")
        events += [
            SearchEvent(turn=len(texts) + place, query=query, hits=[]) for place, query in enumerate(one.searches, 1)
        ]
    if one.confidence is not None:
        recorded.append("confidence")
    return trace_of(
        collection, qid, number, one.answer, events, recorded, confidence=one.confidence, telemetry=one.telemetry
    )
