"""Rules of passages and nuggets: what is recorded was met, and stands in the trace once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from calibrag.execution.trace_rules.case import Case, returned, ruled
from calibrag.trace import ReadEvent, RecordEvent, RetractEvent, SearchEvent


def records(case: Case) -> Iterator[str]:
    """Every nugget has the event that recorded it, which says the same, and every such event its nugget."""
    nuggets = {nugget.nugget_id: nugget for nugget in case.trace.nuggets}
    if len(nuggets) < len(case.trace.nuggets):
        yield "a nugget_id comes twice"
    events: dict[str, RecordEvent] = {}
    for event in case.trace.events:
        if isinstance(event, RecordEvent) and event.nugget_id is not None:
            if event.nugget_id in events:
                yield f"nugget {event.nugget_id} is recorded twice"
            events[event.nugget_id] = event
    for nugget_id in nuggets.keys() - events.keys():
        yield f"nugget {nugget_id} has no record event"
    for nugget_id, event in events.items():
        nugget = nuggets.get(nugget_id)
        if nugget is None:
            yield f"the record event of turn {event.turn} names nugget {nugget_id}, which is not among the nuggets"
            continue
        for field in ("passage_id", "quotes", "claim", "entailment", "verified"):
            recorded, kept = getattr(event, field), getattr(nugget, field)
            if recorded != kept:
                yield f"{field} of nugget {nugget_id} must be as recorded, {recorded!r} (got {kept!r})"


def retractions(case: Case) -> Iterator[str]:
    """An accepted retraction names a nugget recorded before; exactly these nuggets are retracted."""
    recorded: set[str] = set()
    withdrawn: set[str] = set()
    for event in case.trace.events:
        if isinstance(event, RecordEvent) and event.nugget_id is not None:
            recorded.add(event.nugget_id)
        elif isinstance(event, RetractEvent) and event.accepted:
            if event.nugget_id not in recorded:
                yield f"turn {event.turn} retracts nugget {event.nugget_id}, which is not recorded by then"
            withdrawn.add(event.nugget_id)
    marked = {nugget.nugget_id for nugget in case.trace.nuggets if nugget.retracted}
    for nugget_id in sorted(marked - withdrawn):
        yield f"nugget {nugget_id} is marked as retracted without a retract event"
    for nugget_id in sorted(withdrawn & {nugget.nugget_id for nugget in case.trace.nuggets} - marked):
        yield f"nugget {nugget_id} was retracted, and is not marked as such"


def passages_met(case: Case) -> Iterator[str]:
    """What is read, recorded or cited by an accepted answer was returned by a search before.

    A trace that did not record hits is held to nothing here.
    """
    if not case.trace.records("hits"):
        return
    seen: set[str] = set()
    accepted = {id(answer) for answer, gate in ruled(case.trace) if gate and gate.accepted}
    for event in case.trace.events:
        seen |= set(returned(event))
        cited: Iterable[str] = ()
        if isinstance(event, ReadEvent | RecordEvent):
            cited = [event.passage_id]
        elif id(event) in accepted:
            cited = event.passage_ids
        for passage_id in cited:
            if passage_id not in seen:
                yield f"{event.__struct_config__.tag} of turn {event.turn}: {passage_id} was not met in this pass"
    for nugget in case.trace.nuggets:
        if nugget.passage_id not in seen:
            yield f"nugget {nugget.nugget_id}: {nugget.passage_id} was not met in this pass"


def passages_excluded(case: Case) -> Iterator[str]:
    """An excluded passage is neither found nor recorded."""
    excluded = set(case.trace.excluded)
    for event in case.trace.events:
        for passage_id in returned(event):
            if passage_id in excluded:
                yield f"{event.__struct_config__.tag} of turn {event.turn} returned {passage_id}, which is excluded"
    for nugget in case.trace.nuggets:
        if nugget.passage_id in excluded:
            yield f"nugget {nugget.nugget_id} cites {nugget.passage_id}, which is excluded"


def passages_retrieved(case: Case) -> Iterator[str]:
    """``retrieved`` holds the passages that searches ranked, each with its best score."""
    best: dict[str, float] = {}
    for event in case.trace.events:
        if isinstance(event, SearchEvent):
            for hit in event.hits:
                best[hit.passage_id] = max(hit.score, best.get(hit.passage_id, hit.score))
    for passage_id in sorted(best.keys() | case.trace.retrieved.keys()):
        wanted, got = best.get(passage_id), case.trace.retrieved.get(passage_id)
        if wanted != got:
            yield f"retrieved must map {passage_id} to {wanted} (got {got})"
