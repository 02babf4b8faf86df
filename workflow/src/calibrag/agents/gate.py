"""The evidence gate: what an answer must fulfil to be accepted (spec/bitem section 4)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from calibrag.agents.settings import Gate
from calibrag.trace import Condition, Nugget


def rule_on(
    answer: str | None,
    cited: Sequence[str],
    seen: Collection[str],
    verified: Sequence[Nugget],
    confidence: float,
    gate: Gate,
) -> list[Condition]:
    """Return the conditions that an answer was held to; it is accepted if all pass.

    A refusal to answer (None) is held to the passages that it cites, and to nothing else.

    Parameters
    ----------
    cited, seen
        Passages that the answer names as its support, and those in the pass's record.
    verified
        Nuggets that count.
    confidence
        That of the answer, in [0, 1].
    """
    unknown = [passage_id for passage_id in cited if passage_id not in seen]
    conditions = [
        Condition(
            name="passages",
            wanted="passages that were retrieved in this pass",
            got=f"unknown: {', '.join(unknown)}" if unknown else f"{len(cited)} known",
            passed=not unknown,
        )
    ]
    if answer is None:
        return conditions
    strongest = max((nugget.entailment for nugget in verified), default=0.0)
    return [
        *conditions,
        Condition(
            name="format",
            wanted="one line of text that is not blank",
            got=f"{len(answer.splitlines())} lines" if answer.strip() else "blank",
            passed=bool(answer.strip()) and len(answer.splitlines()) == 1,
        ),
        Condition(
            name="evidence",
            wanted=f"{gate.min_nuggets} verified nuggets, or one entailment of at least {gate.strong_entailment}",
            got=f"{len(verified)} verified, the strongest {strongest:.3f}",
            passed=len(verified) >= gate.min_nuggets or strongest >= gate.strong_entailment,
        ),
        Condition(
            name="confidence",
            wanted=f"at least {gate.confidence_floor}",
            got=f"{confidence:.3f}",
            passed=confidence >= gate.confidence_floor,
        ),
    ]


def reason(condition: Condition) -> str:
    """Return what is wrong, in words that a model can act on."""
    return f"{condition.name} must be {condition.wanted} (got {condition.got})"
