"""Confidence of a submission, computed by the orchestrator from the record of the pass.

No formula here is fitted, and none asks the model how sure it is (spec/bitem section 4; the formula is not
stated by the paper). A rule is registered by name; the name is stored in each trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from calibrag.agents.settings import PassConfidence
from calibrag.normalisation import words
from calibrag.trace import Nugget


def answer_overlap(answer: str, claim: str) -> float:
    """Return the share of the answer's distinct words that stand in the claim, in [0, 1]."""
    answered = set(words(answer))
    return len(answered & set(words(claim))) / len(answered) if answered else 0.0


class Confidence(NamedTuple):
    """A confidence in [0, 1], higher = surer, and the numbers that it was computed from, by name, in reading order."""

    value: float
    numbers: dict[str, float]


def noisy_or_evidence(
    answer: str | None, nuggets: Sequence[Nugget], turned_back: int, settings: PassConfidence
) -> Confidence:
    """Return (1 - prod(1 - e_i)) x min(1, k / full_evidence) x turned_back_discount^turned_back, k verified nuggets.

    ``e_i = entailment_i x (1 - w + w x overlap_i)`` with w the ``overlap_weight``. Sparse evidence gives low confidence
    by construction; a refusal has none.
    """
    if answer is None:
        return Confidence(0.0, {})
    weight = settings.overlap_weight
    numbers: dict[str, float] = {}
    evidence = []
    for nugget in nuggets:
        overlap = answer_overlap(answer, nugget.claim)
        evidence.append(nugget.entailment * (1 - weight + weight * overlap))
        numbers |= {
            f"{nugget.nugget_id} entailment": nugget.entailment,
            f"{nugget.nugget_id} overlap": overlap,
            f"{nugget.nugget_id} evidence": evidence[-1],
        }
    support = 1.0 - math.prod(1.0 - e for e in evidence)
    share = min(1.0, len(evidence) / settings.full_evidence)
    discount = settings.turned_back_discount**turned_back
    numbers |= {"support": support, "share of full evidence": share, "discount for answers turned back": discount}
    return Confidence(support * share * discount, numbers)


CONFIDENCE_RULES: dict[str, Callable[[str | None, Sequence[Nugget], int, PassConfidence], Confidence]] = {
    "noisy_or_evidence": noisy_or_evidence,
}
"""Registered rules; each takes answer, verified nuggets, number of turned-back answers before it, and settings."""
