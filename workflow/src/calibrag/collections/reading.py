"""The formats of documents and questions: which function reads each, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from calibrag.collections import (
    hotpotqa,
    html_pages,
    jsonl,
    markdown,
    mediawiki,
    musique,
    ottqa,
    plain_text,
    r2c2,
)
from calibrag.collections.checking import Ids, Problems, check_document, check_question
from calibrag.collections.entries import Place
from calibrag.collections.splitting import draw_order
from calibrag.errors import InputError
from calibrag.records import Document, Question, read_jsonl

READERS: dict[str, Callable[..., Iterator[Document]]] = {
    "jsonl": jsonl.read_documents,
    "mediawiki": mediawiki.read_documents,
    "html": html_pages.read_documents,
    "markdown": markdown.read_documents,
    "text": plain_text.read_documents,
    "ottqa": ottqa.read_documents,
    "hotpotqa": hotpotqa.read_documents,
    "2wikimultihopqa": hotpotqa.read_documents,
    "musique": musique.read_documents,
    "r2c2": r2c2.read_documents,
}
"""Readers of documents by format: each takes paths and yields the documents in a stream, no id twice."""

QUESTIONS: dict[str, Callable[..., Iterator[tuple[Place, Question]]]] = {
    "hotpotqa": hotpotqa.read_questions,
    "2wikimultihopqa": hotpotqa.read_questions,
    "musique": musique.read_questions,
    "r2c2": r2c2.read_questions,
}
"""Readers of questions by released format, ``jsonl`` aside: each takes paths and yields questions with their places."""


class _Named(msgspec.Struct):
    """The part of a document that support needs."""

    doc_id: str


def read_documents(form: str, paths: str | Sequence[str]) -> Iterator[Document]:
    """Yield the documents of a source, checked, in a stream.

    Parameters
    ----------
    form
        A format of ``READERS``.
    paths
        A path, or several that are read as one source.

    Raises
    ------
    InputError
        A file breaks its format, or there is no document; raised while the documents are taken, at the latest at
        their end.
    """
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    paths = list(map(str, paths))
    count = 0
    for document in READERS[form](*paths):
        count += 1
        if form != "jsonl":
            _check(paths, document)
        yield document
    if not count:
        raise InputError(", ".join(paths), "holds no document")


def read_questions(
    form: str,
    paths: str | Sequence[str],
    documents: str | Path,
    answered: bool,
    split: str,
    limit: int | None,
    seed: int,
) -> list[Question]:
    """Return the questions of a split, in the order of their files.

    Parameters
    ----------
    form
        ``jsonl`` or a format of ``QUESTIONS``.
    documents
        The collection's documents, as ``read_documents`` gave them, in JSON Lines.
    answered
        Supported questions must have answers; False, for retrieval alone, lets them go without.
    limit
        Draw this many questions of the split, at random by ``seed``; None, or more than there are, takes all. The
        draw depends on ids only: a question added or removed changes at most one of the others.

    Raises
    ------
    InputError
        A file breaks its format (the message lists the first 20 problems), or the split is empty.
    """
    paths = [paths] if isinstance(paths, str | Path) else list(paths)
    paths = list(map(str, paths))
    doc_ids = {document.doc_id for document in read_jsonl(documents, _Named)}
    if form == "jsonl":
        questions = jsonl.read_questions(*paths, doc_ids=doc_ids, answered=answered)
    else:
        questions = _released(form, paths, doc_ids, answered)
    found = False
    chosen = []
    for question in questions:
        found = True
        if question.split == split:
            chosen.append(question)
    if not chosen:
        problem = f"no question of the split {split!r}: choose another split, or add questions"
        raise InputError(", ".join(paths), problem if found else "holds no question")
    if limit is not None:
        kept = set(draw_order((question.qid for question in chosen), seed)[:limit])
        chosen = [question for question in chosen if question.qid in kept]
    return chosen


def _released(form: str, paths: Sequence[str], doc_ids: set[str], answered: bool) -> Iterator[Question]:
    ids = Ids("qid")
    problems = Problems()
    for place, question in QUESTIONS[form](*paths):
        where = place.line if len(paths) == 1 and place.line is not None else f"{place.file}:{place.line or place.item}"
        found = (*ids.check(question.qid, where), *check_question(question, doc_ids, answered))
        for problem in found:
            field = problem.field if place.item is None else f"[{place.item - 1}].{problem.field}"
            problems.add(place.file, place.line, problem._replace(field=field))
        yield question
    problems.check()


def _check(paths: Sequence[str], document: Document) -> None:
    """Raise at the first thing that is wrong with a document; its reader has seen to its place and its id."""
    for problem in (*Ids("doc_id").check(document.doc_id, 0), *check_document(document)):
        raise InputError(", ".join(paths), f"document {document.doc_id!r}: {problem.text}", field=problem.field)
