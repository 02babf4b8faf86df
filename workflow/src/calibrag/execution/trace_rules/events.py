"""Rules of single events: turns, rankings, and the ranges of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from calibrag.execution.trace_rules.case import Case
from calibrag.records import Hit
from calibrag.trace import EntitySearchEvent, GateEvent, ModelEvent, RecordEvent, SearchEvent, Trace


def turns(case: Case) -> Iterator[str]:
    """Turns count up from 0 (before the first call) and never down."""
    numbers = [0, *(event.turn for event in case.trace.events)]
    for before, after in pairwise(numbers):
        if after < before:
            yield f"turn {after} follows turn {before}"


def rankings(case: Case) -> Iterator[str]:
    """Ranks count from 1 without a gap, scores are finite and never rise, no passage comes twice."""
    for event in case.trace.events:
        if isinstance(event, SearchEvent | EntitySearchEvent):
            for problem in _breaks(event.hits):
                yield f"{event.__struct_config__.tag} of turn {event.turn}: {problem}"


def _breaks(hits: Sequence[Hit]) -> Iterator[str]:
    seen: set[str] = set()
    best = math.inf
    for expected, hit in enumerate(hits, start=1):
        if hit.rank != expected:
            yield f"rank must be {expected} (got {hit.rank}) for {hit.passage_id}"
        if hit.passage_id in seen:
            yield f"{hit.passage_id} comes twice"
        if hit.score > best:
            yield f"score must not rise with the rank (got {hit.score} after {best}) for {hit.passage_id}"
        seen.add(hit.passage_id)
        best = hit.score


def bounds(case: Case) -> Iterator[str]:
    """Probabilities, entailments and confidences lie in [0, 1]."""
    for name, value in _shares(case.trace):
        if value is not None and not 0 <= value <= 1:
            yield f"{name} must lie in [0, 1] (got {value})"


def _shares(trace: Trace) -> Iterator[tuple[str, float | None]]:
    yield "the confidence of the pass", trace.confidence
    for nugget in trace.nuggets:
        yield f"entailment of nugget {nugget.nugget_id}", nugget.entailment
    for submission in trace.submissions:
        yield f"confidence of the submission of turn {submission.turn}", submission.confidence
    for event in trace.events:
        match event:
            case RecordEvent():
                yield f"entailment of turn {event.turn}", event.entailment
            case GateEvent():
                yield f"confidence of the gate in turn {event.turn}", event.confidence
            case ModelEvent():
                yield from ((f"a probability of turn {event.turn}", share) for share in event.probabilities)


def amounts(case: Case) -> Iterator[str]:
    """Counts, seconds, tokens and costs are not negative."""
    usage = case.trace.usage
    named = [(f"usage.{name}", getattr(usage, name)) for name in usage.__struct_fields__]
    for event in case.trace.events:
        named.append((f"seconds of turn {event.turn}", event.seconds))
        if isinstance(event, ModelEvent):
            fields = ("tokens", "prompt_tokens", "completion_tokens", "cost", "attempts", "rejected")
            named += [(f"{field} of a model in turn {event.turn}", getattr(event, field)) for field in fields]
    for name, value in named:
        if value is not None and value < 0:
            yield f"{name} must be 0 or more (got {value})"


def lists(case: Case) -> Iterator[str]:
    """Lists that belong together are of one length: hits and sources, candidates and probabilities."""
    for event in case.trace.events:
        if isinstance(event, SearchEvent):
            if len(event.sources) not in (0, len(event.hits)):
                yield f"search of turn {event.turn} has {len(event.hits)} hits and {len(event.sources)} sources"
            for strange in event.neighbours.keys() - {hit.passage_id for hit in event.hits}:
                yield f"search of turn {event.turn} has neighbours of {strange}, which is no hit"
        elif isinstance(event, ModelEvent) and len(event.candidates) != len(event.probabilities):
            counts = f"{len(event.candidates)} candidates and {len(event.probabilities)} probabilities"
            yield f"model of turn {event.turn} has {counts}"
