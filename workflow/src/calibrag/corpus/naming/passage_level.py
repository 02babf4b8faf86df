"""What carries out the first step of naming: the names that a passage spells out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from calibrag.corpus.annotation import annotate
from calibrag.models.tagger import SpacyTagger
from calibrag.records import Annotation, Passage

Annotator = Callable[[Iterable[Passage]], Iterator[Annotation]]
"""Yields the names that each passage spells out."""


def open_annotator(settings: Mapping[str, Any], tagger: Mapping[str, Any]) -> Annotator:
    """Return what annotates the names that passages spell out.

    Parameters
    ----------
    settings
        ``corpus.names.passage`` of the configuration.
    tagger
        ``models.tagger``, which the method ``spacy`` uses.
    """
    match settings["method"]:
        case "spacy":
            model = SpacyTagger(tagger["model"], tagger["batch_size"])
            return partial(annotate, tagger=model, skip_labels=tagger["skip_labels"])
        case method:
            raise ValueError(f"method must be spacy (got {method})")
