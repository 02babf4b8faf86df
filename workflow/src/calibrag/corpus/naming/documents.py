"""The document level: passages and their names document by document, and the union of names of both origins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from calibrag.errors import InputError
from calibrag.records import Annotation, Passage

Assigner = Callable[[Sequence[Passage], Mapping[str, Sequence[str]]], Iterable[Annotation]]
"""Yields the document-level names of one document, of its passages and the names that each spells out."""


def assign_documents(
    passages: Iterable[Passage], annotations: Iterable[Annotation], assign: Assigner
) -> Iterator[Annotation]:
    """Yield the document-level names of passages, one document in memory at a time.

    Parameters
    ----------
    passages
        Whole documents, the passages of each in order.
    annotations
        The names that they spell out, passages in the same order.
    """
    for document, names in documents(passages, annotations):
        yield from assign(document, names)


def documents(
    passages: Iterable[Passage], annotations: Iterable[Annotation]
) -> Iterator[tuple[list[Passage], dict[str, list[str]]]]:
    """Yield the passages of each document and the names that each spells out; parameters as of `assign_documents`."""
    spelled = InOrder(annotations)
    for _, group in groupby(passages, key=lambda passage: passage.doc_id):
        document = list(group)
        names = {p.passage_id: [annotation.name for annotation in spelled.take(p.passage_id)] for p in document}
        yield document, names
    spelled.check_empty()


def unite(
    passage_ids: Iterable[str], passage_level: Iterable[Annotation], document_level: Iterable[Annotation]
) -> Iterator[Annotation]:
    """Yield the names of each passage: those that it spells out, then those assigned to it that it does not spell out.

    Names that differ in case only are one.

    Parameters
    ----------
    passage_ids
        All passages, in order.
    passage_level, document_level
        Their names by origin, passages in the same order.
    """
    levels = InOrder(passage_level), InOrder(document_level)
    for passage_id in passage_ids:
        seen = set()
        for level in levels:
            for annotation in level.take(passage_id):
                if annotation.name.casefold() not in seen:
                    seen.add(annotation.name.casefold())
                    yield annotation
    for level in levels:
        level.check_empty()


class InOrder:
    """Annotations in the order of passages, taken passage by passage."""

    def __init__(self, annotations: Iterable[Annotation]):
        self._rest = iter(annotations)
        self._next = next(self._rest, None)

    def take(self, passage_id: str) -> list[Annotation]:
        """Return the annotations of a passage, if it is the next one that has any; else none."""
        taken = []
        while self._next is not None and self._next.passage_id == passage_id:
            taken.append(self._next)
            self._next = next(self._rest, None)
        return taken

    def check_empty(self) -> None:
        """Raise unless every annotation has been taken: a name without its passage would be lost in silence.

        Raises
        ------
        InputError
            A name is left: the annotations do not follow the order of the passages.
        """
        if self._next is not None:
            raise InputError(
                "annotations",
                f"must follow the order of the passages (found names of {self._next.passage_id!r} out of place); "
                "remove the file and run the workflow again",
            )
