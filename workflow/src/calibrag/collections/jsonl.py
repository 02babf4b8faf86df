"""calibrag's own format: documents and questions as JSON Lines (plain, ``.gz`` or ``.xz``), one record a line.

The fields are those of ``records.Document`` and ``records.Question``; workflow/resources/collections/README.md
describes them. Everything is checked before a question is handed out; each problem names file, line and field.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from calibrag.collections.splitting import draw_order
from calibrag.errors import InputError
from calibrag.records import Document, Question, TableBlock, open_text, read_jsonl

R = TypeVar("R", Document, Question)

_REPORTED = 20
"""Problems of a file that one error lists; more are counted."""


class Problem(NamedTuple):
    """What is wrong on a line (from 1), in which field."""

    line: int
    field: str | None
    text: str


def read_collection(
    documents: str | Path, questions: str | Path, answered: bool, split: str, limit: int | None, seed: int
) -> tuple[Iterator[Document], list[Question]]:
    """Return an iterator over the documents, and the questions of a split in file order.

    The documents are read twice: once to check them, keeping their ids only, and once by the iterator.

    Parameters
    ----------
    answered
        Supported questions must have answers; False, for retrieval alone, lets them go without.
    limit
        Draw this many questions of the split, at random by ``seed``; None, or more than there are, takes all. The
        draw depends on ids only: a question added or removed changes at most one of the others.

    Raises
    ------
    InputError
        A file breaks the format (the message lists the first 20 problems), or the split is empty.
    """
    doc_ids = check_documents(documents)
    chosen = [question for question in check_questions(questions, doc_ids, answered) if question.split == split]
    if not chosen:
        raise InputError(questions, f"no question of the split {split!r}: choose another split, or add questions")
    if limit is not None:
        kept = set(draw_order((question.qid for question in chosen), seed)[:limit])
        chosen = [question for question in chosen if question.qid in kept]
    return read_jsonl(documents, Document), chosen


def check_documents(path: str | Path) -> set[str]:
    """Return the ids of the documents of a file.

    Raises
    ------
    InputError
        A line is no document, a document is empty, or an id is unfit or used twice; or there is no document.
    """
    lines: dict[str, int] = {}

    def check(line: int, document: Document) -> Iterator[Problem]:
        yield from _check_id(line, "doc_id", document.doc_id, lines)
        if not document.title.strip():
            yield Problem(line, "title", "must not be blank")
        yield from _check_content(line, document)

    for _ in _checked(path, Document, check):
        pass
    if not lines:
        raise InputError(path, "holds no document")
    return set(lines)


def check_questions(path: str | Path, doc_ids: Container[str], answered: bool) -> list[Question]:
    """Return the questions of a file.

    Raises
    ------
    InputError
        A line is no question, a qid is unfit or used twice, a question is blank, wants a set of answers, has no answer
        although it is supported and ``answered`` is True, or names a document that is not in ``doc_ids``; or there is
        no question.
    """
    lines: dict[str, int] = {}

    def check(line: int, question: Question) -> Iterator[Problem]:
        yield from _check_id(line, "qid", question.qid, lines)
        if not question.text.strip():
            yield Problem(line, "text", "must not be blank")
        if answered and question.supported and not question.answers:
            yield Problem(
                line,
                "answers",
                "must hold an answer; where the documents support none, set supported to false; for retrieval alone, "
                "set the collection's key answers to false in config.yaml",
            )
        if question.answer_kind == "set":
            yield Problem(line, "answer_kind", "must be 'single': no measure of this version scores sets of answers")
        if any(not answer.strip() for answer in question.answers):
            yield Problem(line, "answers", "an answer must not be blank")
        for number, support in enumerate(question.support):
            # support of an unsupported question names what was taken out of the documents
            if question.supported and support.doc_id not in doc_ids:
                yield Problem(
                    line, f"support[{number}].doc_id", f"names {support.doc_id!r}, which is not among the documents"
                )
            if support.quote is not None and not support.quote.strip():
                yield Problem(line, f"support[{number}].quote", "must not be blank; null means the whole document")

    questions = list(_checked(path, Question, check))
    if not questions:
        raise InputError(path, "holds no question")
    return questions


def _check_id(line: int, field: str, value: str, lines: dict[str, int]) -> Iterator[Problem]:
    """Yield what is wrong with an id, and keep the line that it stands on."""
    if not value:
        yield Problem(line, field, "must not be empty")
    elif any(character.isspace() or character == ";" for character in value):
        yield Problem(
            line,
            field,
            f"must hold no whitespace and no semicolon, which divide run files (got {value!r}); use _ or %20",
        )
    if value in lines:
        yield Problem(line, field, f"{value!r} is used twice, first on line {lines[value]}")
    lines.setdefault(value, line)


def _check_content(line: int, document: Document) -> Iterator[Problem]:
    empty = True
    for s, section in enumerate(document.sections):
        for b, block in enumerate(section.blocks):
            if isinstance(block, TableBlock):
                field = f"sections[{s}].blocks[{b}].rows"
                for r, row in enumerate(block.rows):
                    if len(row) != len(block.header):
                        yield Problem(
                            line,
                            f"{field}[{r}]",
                            f"must have {len(block.header)} cells as the header has (got {len(row)})",
                        )
                cells = (cell for row in (block.header, *block.rows) for cell in row)
                empty = empty and not any(cell.strip() for cell in cells)
            else:
                empty = empty and not block.text.strip()
    if empty:
        yield Problem(line, "sections", "the document is empty: it needs a block with text or cells; remove it")


def _checked(path: str | Path, record: type[R], check: Callable[[int, R], Iterator[Problem]]) -> Iterator[R]:
    """Yield the records of a file that decode; at its end raise if any line had a problem."""
    decoder = msgspec.json.Decoder(record)
    problems: list[Problem] = []
    total = 0
    for line, text in _lines(path):
        try:
            entry = decoder.decode(text)
        except msgspec.ValidationError as error:
            problem, _, field = str(error).partition(" - at `$")
            if "unknown field" in problem and not field:
                problem += f" (allowed: {', '.join(record.__struct_fields__)})"
            found = [Problem(line, field.strip("`").lstrip(".") or None, problem)]
        except msgspec.DecodeError as error:
            found = [Problem(line, None, f"not a line of JSON ({error})")]
        else:
            found = list(check(line, entry))
            yield entry
        total += len(found)
        problems += found[: _REPORTED - len(problems)]
    if problems:
        raise _error(path, problems, total)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, text) of the lines that are not blank."""
    number = 0
    try:
        with open_text(path) as stream:
            for number, text in enumerate(stream, start=1):
                if text.strip():
                    yield number, text
    except FileNotFoundError:
        raise InputError(path, "no such file; correct the path in config.yaml or put the file there") from None
    except (UnicodeDecodeError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise InputError(path, f"unreadable after line {number} ({error})", number + 1) from error


def _error(path: str | Path, problems: list[Problem], total: int) -> InputError:
    first, *others = problems
    text = first.text
    if others:
        text += f"\n{total - 1} more:" + "".join(
            f"\n  {path}:{line}: {f'{field}: ' if field else ''}{problem}" for line, field, problem in others
        )
    if total > len(problems):
        text += f"\n  and {total - len(problems)} that are not listed"
    return InputError(path, text, first.line, first.field)
