"""Rules that file a pass's own answer with the confidence that its record gave it, alone or summed: AC-1 to AC-3."""

from __future__ import annotations

import math
from collections.abc import Sequence

from calibrag.runs.choices import (
    REFUSAL,
    Attempt,
    Choice,
    RuleSettings,
    Traces,
    answer_of,
    attempts,
    first,
    most_confident_of,
)
from calibrag.runs.same_answers import Same
from calibrag.trace import Trace


def first_pass(traces: Traces, settings: RuleSettings, same: Same) -> dict[str, Choice]:
    """AC-1: "first-pass answer and confidence; if that pass committed a refusal, its transcript attempts (last
    non-refusal)".

    So does a pass that ended without an answer. Its passages are those of PG-1: "nuggets verified in that pass whose
    passage is in PG-1".
    """
    return {qid: _unchanged(answer_of(trace)) for qid, passes in traces.items() for trace in first(passes)}


def most_confident(traces: Traces, settings: RuleSettings, same: Same) -> dict[str, Choice]:
    """AC-2: "over all non-refusal submissions of all passes, turned-back ones included, the one with the highest
    confidence, unchanged. Ties: accepted before turned-back, then earlier."

    "AC-2 and AC-3 file all verified nuggets over the passes whose passage is in PG-2, whichever answer was chosen."
    """
    return {qid: _unchanged(most_confident_of(attempts(passes))) for qid, passes in traces.items()}


def summed_agreement(traces: Traces, settings: RuleSettings, same: Same) -> dict[str, Choice]:
    """AC-3: "group those submissions by normalised answer; file the group with the highest summed confidence, capped
    at 100. Known flaw kept as stated: a turned-back answer and its retry both count".

    Of equal sums the group that was begun earlier is filed, in the words of its most confident submission.
    """
    return {qid: _strongest_sum(attempts(passes), same) for qid, passes in traces.items()}


def agreement_per_pass(traces: Traces, settings: RuleSettings, same: Same) -> dict[str, Choice]:
    """AC-3 with the option "``per_pass_max``": each pass counts once in a group, by its most confident submission."""
    return {qid: _strongest_sum(_best_of_passes(passes, same), same) for qid, passes in traces.items()}


def _best_of_passes(passes: Sequence[Trace], same: Same) -> list[Attempt]:
    return [most_confident_of(group) for trace in passes for group in groups(attempts([trace]), same)]


def groups(tried: Sequence[Attempt], same: Same) -> list[list[Attempt]]:
    """Return the attempts by what they say, each group in their order, the group that was begun first first."""
    found: dict[str, list[Attempt]] = {}
    for attempt in tried:
        found.setdefault(same(attempt.trace.qid, attempt.submission.text), []).append(attempt)
    return list(found.values())


def _unchanged(attempt: Attempt | None) -> Choice:
    return Choice(attempt, attempt.submission.confidence) if attempt else REFUSAL


def _strongest_sum(tried: Sequence[Attempt], same: Same) -> Choice:
    if not tried:
        return REFUSAL
    summed = [(math.fsum(attempt.submission.confidence for attempt in group), group) for group in groups(tried, same)]
    total, group = max(summed, key=lambda item: item[0])
    return Choice(most_confident_of(group), min(total, 1.0))
