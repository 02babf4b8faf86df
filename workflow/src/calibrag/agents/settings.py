"""The settings of the evidence agent, as one block of ``config.yaml`` gives them."""

from __future__ import annotations

from calibrag.records import Record


class Gate(Record):
    """When an answer is accepted (spec/bitem section 4).

    Parameters
    ----------
    min_nuggets
        Verified nuggets that suffice.
    strong_entailment
        One entailment of at least this strength suffices as well, in [0, 1].
    confidence_floor
        The least pass confidence, in [0, 1].
    """

    min_nuggets: int
    strong_entailment: float
    confidence_floor: float


class Limits(Record):
    """Where a pass is cut off: tool calls, and tokens of all model calls together."""

    turns: int
    tokens: int


class EvidenceAgent(Record):
    """Everything that the orchestrator reads.

    Parameters
    ----------
    gate, limits
        See there.
    verified_entailment
        P(entails) from which on a nugget counts as verified, in [0, 1].
    read_sentences
        Sentences that one ``read`` returns.
    confidence_rule
        Name in ``pass_confidence.CONFIDENCE_RULES``.
    fallback_passages
        Retrieved passages, best first, in which a pass without an answer looks for support of an earlier one.
    """

    gate: Gate
    limits: Limits
    verified_entailment: float
    read_sentences: int
    confidence_rule: str
    fallback_passages: int
