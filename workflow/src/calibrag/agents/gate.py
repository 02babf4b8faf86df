"""The evidence gate: what an answer must fulfil to be accepted (spec/bitem section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from calibrag.agents.settings import Gate
from calibrag.records import Nugget


def failed_conditions(answer: str | None, verified: Sequence[Nugget], confidence: float, gate: Gate) -> list[str]:
    """Return each condition that an answer fails, in words; a refusal to answer (None) fails none."""
    if answer is None:
        return []
    failed = []
    if not answer.strip() or "\n" in answer:
        failed.append("an answer must be one line of text that is not blank")
    strongest = max((nugget.entailment for nugget in verified), default=0.0)
    if len(verified) < gate.min_nuggets and strongest < gate.strong_entailment:
        failed.append(
            f"evidence must be {gate.min_nuggets} verified nuggets or one entailment of at least "
            f"{gate.strong_entailment} (got {len(verified)}, strongest {strongest:.3f})"
        )
    if confidence < gate.confidence_floor:
        failed.append(f"confidence must be at least {gate.confidence_floor} (got {confidence:.3f})")
    return failed
