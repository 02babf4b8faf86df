"""What a trace promises beyond its types. A rule is a function of a ``Case`` that yields each break in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from calibrag.execution.trace_rules import answers, events, evidence, passes
from calibrag.execution.trace_rules.case import Case

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
