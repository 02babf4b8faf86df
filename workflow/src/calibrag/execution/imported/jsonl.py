"""The plain format for logs of one's own: a question a line, with its passes; only answers must be given.

What a pass does not give counts as not recorded. workflow/resources/imports/README.md has an example.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from calibrag.collections.checking import Ids, Problems, check_question
from calibrag.collections.jsonl import read_records
from calibrag.execution.imported.logged import UNNAMED, Logged, Pass, Verdict, answer, question, trace
from calibrag.records import Record
from calibrag.trace import ModelEvent, SearchEvent, Trace, TraceEvent

Name = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]
"""The name of a number, which becomes a column of tables."""


class LoggedPass(Record):
    """A pass over a question; null, or no field, means that the log does not tell.

    Parameters
    ----------
    answer
        What was answered; null or blank is a refusal.
    confidence
        What the system itself said of its answer, in [0, 1].
    searches
        The queries, in order; [] where nothing was searched.
    reasoning
        The model's own words, in order.
    tokens, seconds
        What the pass cost.
    telemetry
        Further numbers by name (lower-case letters, digits, ``_``), each of which becomes a signal.
    labels
        What the log says of the answer, by name, such as ``em``: 1 right, 0 wrong, or a score. No signal reads them.
    """

    answer: str | None
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    searches: list[str] | None = None
    reasoning: list[str] | None = None
    tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    telemetry: dict[Name, float] = {}
    labels: dict[Name, float] = {}


class Line(Record):
    """A question with its gold answers and the passes over it, first to last; ``type`` may name its kind."""

    qid: str
    question: str
    answers: list[str]
    passes: Annotated[list[LoggedPass], msgspec.Meta(min_length=1)]
    type: str | None = None


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions of a file.

    Raises
    ------
    InputError
        A line breaks the format, an id is unfit or used twice, a question is blank or has no gold answer.
    """
    ids, problems = Ids("qid"), Problems()
    for number, line in read_records(str(path), Line, problems):
        asked = msgspec.structs.replace(question(line.qid, line.question, line.answers), type=line.type)
        for problem in (*ids.check(line.qid, number), *check_question(asked, (), answered=True)):
            problems.add(str(path), number, problem)
        traces = [_trace(Pass(collection, line.qid, n), each) for n, each in enumerate(line.passes, start=1)]
        labels = [
            (n, name, value) for n, each in enumerate(line.passes, start=1) for name, value in each.labels.items()
        ]
        yield Logged(asked, traces, [Verdict(*label) for label in labels])
    problems.check()


def _trace(of: Pass, logged: LoggedPass) -> Trace:
    events: list[TraceEvent] = []
    # one event takes the tokens and seconds of the whole pass, of which the log gives the sums alone
    spent = {"tokens": logged.tokens, "seconds": logged.seconds or 0.0}
    thoughts = logged.reasoning if logged.reasoning is not None else []
    for thought in thoughts or ([None] if logged.tokens is not None or logged.seconds is not None else []):
        events.append(ModelEvent(turn=0, model=UNNAMED, purpose="next call", reasoning=thought, **spent))
        spent = {}
    for turn, query in enumerate(logged.searches or [], start=1):
        events.append(SearchEvent(turn=turn, query=query, hits=[]))
    events.append(answer(len(logged.searches or []) + 1, logged.answer))
    aspects = ("confidence", "searches", "reasoning", "tokens", "seconds")
    recorded = [aspect for aspect in aspects if getattr(logged, aspect) is not None]
    return trace(of, events, recorded, logged.telemetry, logged.confidence)
