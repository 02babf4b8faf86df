"""What carries out the second step of naming: the names of a document that its passages refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from calibrag.corpus.naming.documents import assign_documents
from calibrag.corpus.naming.references import assign
from calibrag.records import Annotation, Passage

DocumentsAssigner = Callable[[Iterable[Passage], Iterable[Annotation]], Iterator[Annotation]]
"""Yields the document-level names of passages, of whole documents and the names that they spell out."""


def open_assigner(
    settings: Mapping[str, Any], chat: Mapping[str, Any] | None, say: Callable[[str], None]
) -> DocumentsAssigner:
    """Return what assigns the names of documents to their passages.

    Parameters
    ----------
    settings
        ``corpus.names.document`` of the configuration.
    chat
        What the method ``chat`` uses, see ``inputs.Inputs.chat``; None for the others.
    say
        Takes lines for the log.
    """
    match settings["method"]:
        case "offline":
            rules = partial(assign, rules=settings["rules"], at_most=settings["at_most"])
            return partial(assign_documents, assign=rules)
        case "chat":
            # its client takes half a second to load
            from calibrag.corpus.naming.by_chat import open_assigner_by_chat

            return open_assigner_by_chat(chat, settings["at_most"], say)
        case method:
            raise ValueError(f"method must be offline or chat (got {method})")
