"""Claims against evidence that others labelled, as pairs, from files as their authors publish them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from calibrag.models.training_data import CONTRADICTS, ENTAILS, NEUTRAL, Pair, words
from calibrag.records import read_jsonl

PARTIAL = "partial"
"""Label of a claim that its evidence supports in part; it counts as not entailed."""

LABELS = (ENTAILS, PARTIAL, NEUTRAL, CONTRADICTS)


class WiceMeta(msgspec.Struct):
    """What WiCE says about a claim."""

    id: str


class WiceEntry(msgspec.Struct):
    """A line of WiCE (Kamoi et al. 2023, arXiv 2303.01432): a claim of Wikipedia and the page that it cites."""

    label: Literal["supported", "partially_supported", "not_supported"]
    claim: str
    evidence: list[str]
    meta: WiceMeta

    def pair(self) -> Pair:
        """Return the claim with the whole page, a sentence a line, so that windows end where its sentences do."""
        label = {"supported": ENTAILS, "partially_supported": PARTIAL, "not_supported": NEUTRAL}[self.label]
        evidence = "\n".join(self.evidence)
        return Pair(group=self.meta.id, source="wice", first=evidence, second=self.claim, label=label)


class FactcheckGptEntry(msgspec.Struct):
    """A line of Factcheck-GPT (Wang et al. 2023, arXiv 2311.09000): a claim of ChatGPT and text found on the web."""

    claim: str
    evidence: str
    stance: Literal["completely-support", "partially-support", "irrelevant", "refute"]

    def pair(self) -> Pair:
        """Return the claim with the text."""
        label = {
            "completely-support": ENTAILS,
            "partially-support": PARTIAL,
            "irrelevant": NEUTRAL,
            "refute": CONTRADICTS,
        }[self.stance]
        return Pair(group=self.claim, source="factcheck-gpt", first=self.evidence, second=self.claim, label=label)


FORMATS = {"wice": WiceEntry, "factcheck-gpt": FactcheckGptEntry}
"""Name of a published format -> its lines."""


def read_held_out(path: str | Path, format: str) -> Iterator[Pair]:
    """Yield the pairs of a file: premise, claim, label (one of ``LABELS``), the claim's group and the set's name.

    Parameters
    ----------
    format
        ``pairs``, or one of ``FORMATS``. JSON Lines, packed or not.

    Raises
    ------
    InputError
        A line is not of the format.
    """
    if format == "pairs":
        yield from read_jsonl(path, Pair)
    else:
        yield from (entry.pair() for entry in read_jsonl(path, FORMATS[format]))


def read_all(files: Sequence[dict[str, str]]) -> list[Pair]:
    """Return the pairs of files, each ``{format, path}``, those of a set together."""
    pairs = [pair for file in files for pair in read_held_out(file["path"], file["format"])]
    return sorted(pairs, key=lambda pair: pair.source)


def overlapping(pairs: Iterable[Pair], trained_on: Iterable[Pair]) -> list[bool]:
    """Return for each pair whether a claim of the same words is among those that were trained on."""
    known = {tuple(words(pair.second)) for pair in trained_on}
    return [tuple(words(pair.second)) in known for pair in pairs]
