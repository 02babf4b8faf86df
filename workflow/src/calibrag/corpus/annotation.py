"""Names that passages spell out (BITEM, section 2), as a tagger finds them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from calibrag.corpus.batching import batched
from calibrag.records import Annotation, Passage

_PASSAGES = 2_000
"""Passages handed to the tagger at once; it batches them further."""

_LEADING = re.compile(r"^(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_EDGES = " \t\n.,;:!?|/*·–—-\"“”‘’'«»"
_PAIRS = {")": "(", "]": "["}


class NameTagger(Protocol):
    """What finds names: for each text its (name, label) pairs in order of mention."""

    def names(self, texts: Iterable[str]) -> Iterator[list[tuple[str, str]]]:
        """Yield the (name, label) pairs of each text."""


def annotate(
    passages: Iterable[Passage],
    tagger: NameTagger,
    skip_labels: Collection[str],
) -> Iterator[Annotation]:
    """Yield the names of each passage, each once, in order of first mention.

    Parameters
    ----------
    skip_labels
        Labels of the tagger that name nothing to search for, such as ``DATE`` or ``CARDINAL``.
    """
    for batch in batched(passages, _PASSAGES):
        found = tagger.names([passage.text for passage in batch])
        for passage, names in zip(batch, found, strict=True):
            for name in distinct_names(name for name, label in names if label not in skip_labels):
                yield Annotation(passage_id=passage.passage_id, name=name, origin="passage")


def distinct_names(mentions: Iterable[str]) -> list[str]:
    """Return the clean names of mentions, in order; of spellings that differ in case only the first."""
    names: dict[str, str] = {}
    for mention in mentions:
        # a mention that runs over a cell's border is two names
        for part in mention.split("|"):
            name = clean_name(part)
            if name:
                names.setdefault(name.casefold(), name)
    return list(names.values())


def clean_name(mention: str) -> str:
    """Return a mention without article, possessive and punctuation at its ends; '' where no letter is left."""
    name = " ".join(mention.split())
    previous = None
    while name != previous:
        previous = name
        name = _POSSESSIVE.sub("", name.strip(_EDGES if not _is_abbreviation(name) else _EDGES.replace(".", "")))
        name = _drop_unpaired(_LEADING.sub("", name))
    return name if sum(map(str.isalpha, name)) > 1 else ""


def _is_abbreviation(name: str) -> bool:
    """Return whether a final stop belongs to the name: ``U.S.``, ``Sammy Davis Jr.``, ``Warner Bros.``"""
    return bool(re.search(r"(?:\.\w|\b(?:Jr|Sr|Bros|Inc|Ltd|Co|Corp|St))\.$", name))


def _drop_unpaired(name: str) -> str:
    """Return a name without a bracket at its end that was never opened, or at its start that never closes."""
    if name and name[-1] in _PAIRS and _PAIRS[name[-1]] not in name:
        return name[:-1]
    for closing, opening in _PAIRS.items():
        if name.startswith(opening) and closing not in name:
            return name[1:]
        if opening in name and closing not in name:
            return name[: name.index(opening)]
    return name
