"""calibrag's own format: documents and questions as JSON Lines (or ``.gz``, ``.bz2``, ``.xz``), one record a line.

The fields are those of ``records.Document`` and ``records.Question``; workflow/resources/collections/README.md
describes them. Each problem is told with file, line and field, up to twenty at once, at the end of the file.
"""

from __future__ import annotations

import codecs
from collections.abc import Container, Iterator
from typing import TypeVar

import msgspec

from calibrag.collections.checking import Ids, Problem, Problems, check_document, check_question
from calibrag.collections.files import UNREADABLE, open_binary
from calibrag.errors import InputError
from calibrag.records import Document, Question

R = TypeVar("R", bound=msgspec.Struct)


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield the documents of the files; what is wrong with any of them is raised at the end.

    Raises
    ------
    InputError
        A line is no document, a document is empty, or an id is unfit or used twice.
    """
    ids = Ids("doc_id")
    problems = Problems()
    for path in paths:
        for line, document in read_records(path, Document, problems):
            place = line if len(paths) == 1 else f"{path}:{line}"
            for problem in (*ids.check(document.doc_id, place), *check_document(document)):
                problems.add(path, line, problem)
            yield document
    problems.check()


def read_questions(*paths: str, doc_ids: Container[str], answered: bool) -> Iterator[Question]:
    """Yield the questions of the files; what is wrong with any of them is raised at the end.

    Raises
    ------
    InputError
        A line is no question, a qid is unfit or used twice, a question is blank, wants a set of answers, has no answer
        although it is supported and ``answered`` is True, or names a document that is not in ``doc_ids``.
    """
    ids = Ids("qid")
    problems = Problems()
    for path in paths:
        for line, question in read_records(path, Question, problems):
            place = line if len(paths) == 1 else f"{path}:{line}"
            for problem in (*ids.check(question.qid, place), *check_question(question, doc_ids, answered)):
                problems.add(path, line, problem)
            yield question
    problems.check()


def read_records(path: str, record: type[R], problems: Problems) -> Iterator[tuple[int, R]]:
    """Yield (line, record) for the lines of a file that decode; what is wrong with the others goes to ``problems``."""
    decoder = msgspec.json.Decoder(record)
    for line, text in _lines(path):
        try:
            entry = decoder.decode(text)
        except msgspec.ValidationError as error:
            problem, _, field = str(error).partition(" - at `$")
            if "unknown field" in problem and not field:
                problem += f" (allowed: {', '.join(record.__struct_encode_fields__)})"
            problems.add(path, line, Problem(field.strip("`").lstrip(".") or None, problem))
        except msgspec.DecodeError as error:
            problems.add(path, line, Problem(None, f"not a line of JSON ({error})"))
        else:
            yield line, entry


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of the lines that are not blank."""
    number = 0
    with open_binary(path) as stream:
        try:
            for number, line in enumerate(stream, start=1):
                # some editors begin a file with a byte order mark
                if (line := line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).strip():
                    yield number, line
        except UNREADABLE as error:
            problem = f"unreadable after line {number}: cut off or damaged ({error or type(error).__name__})"
            raise InputError(path, problem, number + 1) from error
