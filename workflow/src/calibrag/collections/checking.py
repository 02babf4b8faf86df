"""What a document and a question must be, whatever format they come from; problems are gathered and told together."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from calibrag.errors import InputError
from calibrag.records import Document, Question, TableBlock

_REPORTED = 20
"""Problems that one error lists; more are counted."""


class Problem(NamedTuple):
    """What is wrong, in which field."""

    field: str | None
    text: str


class Problems:
    """Problems found so far, with file and line (from 1)."""

    def __init__(self) -> None:
        self._found: list[tuple[str, int | None, Problem]] = []
        self._total = 0

    def add(self, file: str, line: int | None, problem: Problem) -> None:
        """Keep a problem; from the twenty-first on they are counted only."""
        self._total += 1
        if len(self._found) < _REPORTED:
            self._found.append((file, line, problem))

    def check(self) -> None:
        """Raise an InputError if there are any."""
        if not self._found:
            return
        (file, line, first), *others = self._found
        text = first.text
        if others:
            text += f"\n{self._total - 1} more:" + "".join(
                f"\n  {InputError(f, p.text, n, p.field)}" for f, n, p in others
            )
        if self._total > len(self._found):
            text += f"\n  and {self._total - len(self._found)} that are not listed"
        raise InputError(file, text, line, first.field)


class Ids:
    """The ids of a file's records, each with the place where it stands."""

    def __init__(self, field: str):
        self._field = field
        self._places: dict[str, str | int] = {}

    def check(self, value: str, place: str | int) -> Iterator[Problem]:
        """Yield what is wrong with an id, which is now taken."""
        if not value:
            yield Problem(self._field, "must not be empty")
        elif any(character.isspace() or character == ";" for character in value):
            text = f"must hold no whitespace and no semicolon, which divide run files (got {value!r}); use _ or %20"
            yield Problem(self._field, text)
        if value in self._places:
            first = self._places[value]
            where = f"on line {first}" if isinstance(first, int) else f"in {first}"
            yield Problem(self._field, f"{value!r} is used twice, first {where}")
        self._places.setdefault(value, place)


def check_document(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with a document apart from its id."""
    if not document.title.strip():
        yield Problem("title", "must not be blank")
    empty = True
    for s, section in enumerate(document.sections):
        for b, block in enumerate(section.blocks):
            if isinstance(block, TableBlock):
                field = f"sections[{s}].blocks[{b}].rows"
                for r, row in enumerate(block.rows):
                    if len(row) != len(block.header):
                        text = f"must have {len(block.header)} cells as the header has (got {len(row)})"
                        yield Problem(f"{field}[{r}]", text)
                cells = (cell for row in (block.header, *block.rows) for cell in row)
                empty = empty and not any(cell.strip() for cell in cells)
            else:
                empty = empty and not block.text.strip()
    if empty:
        yield Problem("sections", "the document is empty: it needs a block with text or cells; remove it")


def check_question(question: Question, doc_ids: Container[str], answered: bool) -> Iterator[Problem]:
    """Yield what is wrong with a question apart from its id.

    Parameters
    ----------
    doc_ids
        The documents that support may name.
    answered
        Whether a supported question must have an answer; not where questions serve for retrieval alone.
    """
    if not question.text.strip():
        yield Problem("text", "must not be blank")
    if question.supported and not question.answers and answered:
        text = (
            "must hold an answer; where the documents support none, set supported to false; for retrieval alone, set"
            " the collection's key answers to false in config.yaml"
        )
        yield Problem("answers", text)
    if any(not answer.strip() for answer in question.answers):
        yield Problem("answers", "an answer must not be blank")
    for number, support in enumerate(question.support):
        # support of an unsupported question names what was taken out of the documents
        if question.supported and support.doc_id not in doc_ids:
            text = f"names {support.doc_id!r}, which is not among the documents"
            yield Problem(f"support[{number}].doc_id", text)
        if support.quote is not None and not support.quote.strip():
            yield Problem(f"support[{number}].quote", "must not be blank; null means the whole document")
