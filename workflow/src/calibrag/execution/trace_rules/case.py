"""What a rule sees, and what rules have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from calibrag.trace import AnswerEvent, EntitySearchEvent, Event, GateEvent, SearchEvent, Trace


class Case(NamedTuple):
    """A trace and what it is held against; ``prompts`` maps SHA-256 to text, None without a file."""

    trace: Trace
    earlier: Sequence[Trace]
    prompts: Mapping[str, str] | None


def returned(event: Event) -> Iterator[str]:
    """Yield the passages that an event brought into the pass: hits of a search and what stood beside them."""
    if isinstance(event, SearchEvent | EntitySearchEvent):
        yield from (hit.passage_id for hit in event.hits)
    if isinstance(event, SearchEvent):
        yield from (passage_id for beside in event.neighbours.values() for passage_id in beside)


def met(trace: Trace) -> set[str]:
    """Return the passages that a pass had met when it ended."""
    return {passage_id for event in trace.events for passage_id in returned(event)}


def ruled(trace: Trace) -> Iterator[tuple[AnswerEvent, GateEvent | None]]:
    """Yield each answer event and the gate event right after it, if there is one."""
    for event, after in pairwise([*trace.events, None]):
        if isinstance(event, AnswerEvent):
            yield event, after if isinstance(after, GateEvent) else None
