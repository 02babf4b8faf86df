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


def open_annotator(
    settings: Mapping[str, Any], tagger: Mapping[str, Any], chat: Mapping[str, Any] | None, say: Callable[[str], None]
) -> Annotator:
    """Return what annotates the names that passages spell out.

    Parameters
    ----------
    settings
        ``corpus.names.passage`` of the configuration.
    tagger
        ``models.tagger``, which the method ``spacy`` uses.
    chat
        What the method ``chat`` uses, see ``inputs.Inputs.chat``; None for the others.
    say
        Takes lines for the log.
    """
    match settings["method"]:
        case "spacy":
            model = SpacyTagger(tagger["model"], tagger["batch_size"])
            return partial(annotate, tagger=model, skip_labels=tagger["skip_labels"])
        case "chat":
            # its client takes half a second to load
            from calibrag.corpus.naming.by_chat import open_annotator_by_chat

            return open_annotator_by_chat(chat, say)
        case method:
            raise ValueError(f"method must be spacy or chat (got {method})")
