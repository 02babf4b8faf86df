"""Confidence of a submission, computed by the orchestrator from the record of the pass.

No formula here is fitted, and none asks the model how sure it is (spec/bitem section 4; the formula is not
stated by the paper). A rule is registered by name; the name is stored in each trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from calibrag.agents.settings import PassConfidence
from calibrag.normalisation import words
from calibrag.records import Nugget


def answer_overlap(answer: str, claim: str) -> float:
    """Return the share of the answer's distinct words that stand in the claim, in [0, 1]."""
    answered = set(words(answer))
    return len(answered & set(words(claim))) / len(answered) if answered else 0.0


def noisy_or_evidence(
    answer: str | None, nuggets: Sequence[Nugget], turned_back: int, settings: PassConfidence
) -> float:
    """Return (1 - prod(1 - e_i)) x min(1, k / full_evidence) x turned_back_discount^turned_back, k verified nuggets.

    ``e_i = entailment_i x (1 - w + w x overlap_i)`` with w the ``overlap_weight``. Sparse evidence gives low confidence
    by construction; a refusal has none. In [0, 1], higher = surer.
    """
    if answer is None:
        return 0.0
    weight = settings.overlap_weight
    evidence = [n.entailment * (1 - weight + weight * answer_overlap(answer, n.claim)) for n in nuggets]
    doubt = math.prod(1.0 - e for e in evidence)
    share = min(1.0, len(evidence) / settings.full_evidence)
    return (1.0 - doubt) * share * settings.turned_back_discount**turned_back


CONFIDENCE_RULES: dict[str, Callable[[str | None, Sequence[Nugget], int, PassConfidence], float]] = {
    "noisy_or_evidence": noisy_or_evidence,
}
"""Registered rules; each takes answer, verified nuggets, number of turned-back answers before it, and settings."""
