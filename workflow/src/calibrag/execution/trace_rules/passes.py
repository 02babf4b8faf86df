"""Rules of whole passes: their end, their cost, their order, and their prompts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from itertools import pairwise

from calibrag.execution.trace_rules.case import Case
from calibrag.trace import EntitySearchEvent, ErrorEvent, Event, ModelEvent, RecordEvent, RetractEvent, SearchEvent


def stop(case: Case) -> Iterator[str]:
    """``stop_reason`` and ``status`` fit what happened."""
    trace = case.trace
    status = trace.stop_reason if trace.stop_reason in ("error", "skipped") else "ok"
    if trace.status != status:
        yield f"status must be {status!r} where stop_reason is {trace.stop_reason!r} (got {trace.status!r})"
    own = [submission for submission in trace.submissions if submission.origin == "own"]
    if any(submission.accepted for submission in own[:-1]):
        yield "an answer was submitted after an accepted one"
    accepted = bool(own) and own[-1].accepted
    # a pass whose refusal was accepted may still fail where it looks for a fallback
    if trace.stop_reason != "error" and accepted != (trace.stop_reason == "accepted"):
        yield f"stop_reason is {trace.stop_reason!r}, and an answer was {'' if accepted else 'not '}accepted"
    if trace.stop_reason == "error" and not (trace.events and isinstance(trace.events[-1], ErrorEvent)):
        yield "stop_reason is 'error', and the last event is no error"
    if trace.stop_reason == "context_limit" and not any(isinstance(event, ErrorEvent) for event in trace.events):
        yield "stop_reason is 'context_limit', and no error says so"
    if trace.stop_reason == "skipped" and (trace.events or trace.nuggets or trace.submissions or trace.retrieved):
        yield "stop_reason is 'skipped', and there are events, nuggets, submissions or passages"


def usage(case: Case) -> Iterator[str]:
    """The counts of ``usage`` are those of the events."""
    trace = case.trace
    models = [event for event in trace.events if isinstance(event, ModelEvent)]
    begun = [event for before, event in pairwise([None, *trace.events]) if event.turn > (before.turn if before else 0)]
    # neither a fault nor a full context is a rejected call
    ended = (trace.stop_reason == "error") + (trace.stop_reason == "context_limit")
    claims = [event for event in trace.events if isinstance(event, RecordEvent)]
    costs = [event.cost for event in models if event.cost is not None]
    wanted = {
        "searches": sum(isinstance(event, SearchEvent) for event in trace.events),
        "entity_searches": sum(isinstance(event, EntitySearchEvent) for event in trace.events),
        # a reply that breaks its schema takes a turn without a call
        "tool_calls": sum(not isinstance(event, ModelEvent) for event in begun),
        "rejected_calls": sum(_rejects(event) for event in trace.events) - ended,
        "model_calls": len(models),
        "cached_calls": sum(event.cached for event in models),
        "tokens": sum(event.tokens or 0 for event in models),
        "cost": math.fsum(costs) if costs else None,
        "seconds": math.fsum(event.seconds for event in trace.events),
    }
    for name, value in wanted.items():
        got = getattr(trace.usage, name)
        if got != value and (None in (got, value) or not math.isclose(got, value, rel_tol=1e-6, abs_tol=1e-9)):
            yield f"usage.{name} must be {value}, by the events (got {got})"
    least = {
        "entailments": sum(event.entailment is not None for event in claims),
        "second_entailments": sum(event.second_model for event in claims),
    }
    for name, value in least.items():
        if getattr(trace.usage, name) < value:
            yield f"usage.{name} must be {value} or more, by the events (got {getattr(trace.usage, name)})"


def _rejects(event: Event) -> bool:
    match event:
        case ErrorEvent():
            return True
        case RecordEvent():
            return event.nugget_id is None and not event.verified
        case RetractEvent():
            return not event.accepted
    return False


def passes(case: Case) -> Iterator[str]:
    """The passes of a question are numbered 1, 2, ... among the files given."""
    number, before = case.trace.pass_number, len(case.earlier)
    if number != before + 1:
        yield f"pass_number must be {before + 1} after {before} earlier passes (got {number}); give the files of all"


def exclusions(case: Case) -> Iterator[str]:
    """Excluded are exactly the passages that earlier passes recorded, or nothing at all (``passes.exclude: false``)."""
    if not case.trace.excluded:
        return
    wanted = {nugget.passage_id for trace in case.earlier for nugget in trace.nuggets}
    for passage_id in sorted(wanted - set(case.trace.excluded)):
        yield f"{passage_id} was recorded by an earlier pass, and is not excluded"
    for passage_id in sorted(set(case.trace.excluded) - wanted):
        yield f"{passage_id} is excluded, and no earlier pass recorded it"


def prompts(case: Case) -> Iterator[str]:
    """Each prompt's text lies in ``prompts.json`` beside the traces, under its SHA-256."""
    for prompt in sorted({event.prompt for event in case.trace.events if isinstance(event, ModelEvent)} - {None}):
        if case.prompts is None:
            yield f"there is no prompts.json beside the file to look up prompt {prompt}"
        elif prompt not in case.prompts:
            yield f"prompts.json does not hold prompt {prompt}"
        elif hashlib.sha256(case.prompts[prompt].encode()).hexdigest() != prompt:
            yield f"the text of prompt {prompt} in prompts.json has another SHA-256"
