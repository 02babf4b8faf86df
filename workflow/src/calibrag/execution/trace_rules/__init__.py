"""What a trace promises beyond its types. A rule is a function of a ``Case`` that yields each break in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from calibrag.execution.trace_rules import answers, events, evidence, passes
from calibrag.execution.trace_rules.case import Case
from calibrag.trace import Aspect, Trace

RULES: dict[str, Callable[[Case], Iterator[str]]] = {
    "turns": events.turns,
    "rankings": events.rankings,
    "bounds": events.bounds,
    "amounts": events.amounts,
    "lists": events.lists,
    "records": evidence.records,
    "retractions": evidence.retractions,
    "passages_met": evidence.passages_met,
    "passages_excluded": evidence.passages_excluded,
    "passages_retrieved": evidence.passages_retrieved,
    "rulings": answers.rulings,
    "conditions": answers.conditions,
    "filed": answers.filed,
    "fallback": answers.fallback,
    "stop": passes.stop,
    "usage": passes.usage,
    "passes": passes.passes,
    "exclusions": passes.exclusions,
    "prompts": passes.prompts,
}
"""Name -> rule, in the order in which they are checked."""

READS: dict[str, Aspect] = {
    "rulings": "gate",
    "conditions": "gate",
    "passages_met": "hits",
    "passages_retrieved": "hits",
    "records": "nuggets",
    "retractions": "nuggets",
}
"""Rule -> what a trace from elsewhere must record to be held to it; the others hold of every trace."""


def rules_for(trace: Trace) -> dict[str, Callable[[Case], Iterator[str]]]:
    """Return the rules that a trace is held to."""
    if trace.recorded is None:
        return RULES
    return {name: rule for name, rule in RULES.items() if name not in READS or READS[name] in trace.recorded}
