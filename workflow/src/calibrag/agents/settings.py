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
    """Where a pass is cut off.

    Parameters
    ----------
    turns
        Tool calls, rejected ones included.
    tokens
        Tokens of all model calls together.
    transcript
        Tokens of one chat call, prompt and reply. Where the server does not tell, four characters count as one.
    seconds
        Work of models and indexes, as ``trace.Usage`` counts it; None sets no limit.
    """

    turns: int
    tokens: int
    transcript: int
    seconds: float | None


class PassConfidence(Record):
    """How the confidence of a submission is computed.

    Parameters
    ----------
    rule
        Name in ``pass_confidence.CONFIDENCE_RULES``.
    full_evidence
        Verified nuggets from which on a pass counts as fully evidenced.
    turned_back_discount
        Factor for each answer that the gate had turned back before, in [0, 1].
    overlap_weight
        Share of a nugget's weight that rests on the answer's words in its claim, in [0, 1].
    """

    rule: str
    full_evidence: int
    turned_back_discount: float
    overlap_weight: float


class EntitySearchLimits(Record):
    """The most passages, and the most names that they carry, that one entity search returns."""

    passages: int
    names: int


class EvidenceAgent(Record):
    """Everything that the orchestrator reads.

    Parameters
    ----------
    gate, limits
        See there.
    verified_entailment
        P(entails) from which on a nugget counts as verified, in [0, 1].
    most_neighbours
        Neighbours on each side of a passage that a search may ask for, at most.
    entity_search
        See there.
    read_sentences
        Sentences that one ``read`` returns.
    confidence
        How sure an answer is, from the record.
    fallback_passages
        Retrieved passages, best first, in which a pass without an answer looks for support of an earlier one.
    """

    gate: Gate
    limits: Limits
    verified_entailment: float
    most_neighbours: int
    entity_search: EntitySearchLimits
    read_sentences: int
    confidence: PassConfidence
    fallback_passages: int
