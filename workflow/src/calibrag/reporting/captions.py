"""Captions of tables: what one shows and how it was made, in sentences that each format escapes in its own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Caption:
    """What a table shows and how it was made; a part that is empty is left out.

    Attributes
    ----------
    subject
        What the table shows.
    n
        Questions by collection.
    seeds
        Seed by what it seeds, such as ``bootstrap``.
    models
        Model name by its part, such as ``reader``.
    intervals
        How intervals were made, from `describe_intervals`; None where there are none.
    notes
        Further sentences.
    """

    subject: str
    n: Mapping[str, int] = field(default_factory=dict)
    seeds: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    intervals: str | None = None
    notes: Sequence[str] = ()

    @property
    def sentences(self) -> list[str]:
        """What follows the subject, as plain text."""
        parts = [
            _listed("n", {name: f"{count:,} questions" for name, count in self.n.items()}),
            f"Intervals: {self.intervals}." if self.intervals else "",
            _listed("Seeds", self.seeds),
            _listed("Models", self.models),
            *self.notes,
        ]
        return [part for part in parts if part]


def _listed(what: str, items: Mapping[str, object]) -> str:
    return f"{what}: {'; '.join(f'{name} {value}' for name, value in items.items())}." if items else ""


def describe_intervals(level: float, B: int) -> str:
    """Return how the intervals of a table were made, in words."""
    return f"{100 * level:g} % percentile bootstrap over questions, {B:,} resamples"
