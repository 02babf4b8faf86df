"""The formats of documents and questions: which function reads each, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
from calibrag.collections.unsupported import NOTHING, Removal, choose
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


def read_documents(form: str, paths: str | Sequence[str], left_out: Collection[str] = ()) -> Iterator[Document]:
    """Yield the documents of a source, checked, in a stream.

    Parameters
    ----------
    form
        A format of ``READERS``.
    paths
        A path, or several that are read as one source.
    left_out
        Ids of documents that are passed over; each must be there.

    Raises
    ------
    InputError
        A file breaks its format, there is no document, or not every one of ``left_out``; raised while the documents are
        taken, at the latest at their end.
    """
    paths = _listed(paths)
    count = 0
    missing = set(left_out)
    for document in READERS[form](*paths):
        if form != "jsonl":
            _check(paths, document)
        if document.doc_id in left_out:
            missing.discard(document.doc_id)
            continue
        count += 1
        yield document
    if missing:
        problem = f"lacks {', '.join(sorted(missing)[:5])}, which questions name as their support"
        raise InputError(", ".join(paths), problem)
    if not count:
        raise InputError(", ".join(paths), "holds no document")


def removal(paths: str | Sequence[str], unsupported: Mapping[str, Any] | None) -> Removal:
    """Return which questions of a collection lose their support, and the documents that go with it.

    Parameters
    ----------
    paths
        The files of the questions.
    unsupported
        ``share`` and ``seed`` of the draw; and ``format``, ``answered``, ``split`` and ``sample``, which say what the
        questions are; None takes nothing out.

    Raises
    ------
    InputError
        As of ``read_questions``; or no question can be chosen.
    """
    if unsupported is None:
        return NOTHING
    form, split, sample = (unsupported[key] for key in ("format", "split", "sample"))
    # whether the documents are there is seen when they are read
    questions = _evaluated(form, _listed(paths), _Everything(), unsupported["answered"], split, **sample)
    try:
        return choose(questions, unsupported["share"], unsupported["seed"])
    except ValueError as error:
        raise InputError(", ".join(_listed(paths)), str(error)) from None


def read_questions(
    form: str,
    paths: str | Sequence[str],
    documents: str | Path,
    answered: bool,
    split: str,
    limit: int | None,
    seed: int,
    removed: Removal = NOTHING,
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
    removed
        Documents that were left out, and the questions that are marked as unsupported for it, their support emptied.

    Raises
    ------
    InputError
        A file breaks its format (the message lists the first 20 problems), or the split is empty.
    """
    doc_ids = {document.doc_id for document in read_jsonl(documents, _Named)} | removed.documents
    questions = _evaluated(form, _listed(paths), doc_ids, answered, split, limit, seed)
    return [removed.mark(question) for question in questions]


def _listed(paths: str | Path | Sequence[str]) -> list[str]:
    return list(map(str, [paths] if isinstance(paths, str | Path) else paths))


class _Everything(Container):
    """Holds whatever is asked for."""

    def __contains__(self, item: object) -> bool:
        return True


def _evaluated(
    form: str,
    paths: list[str],
    doc_ids: Container[str],
    answered: bool,
    split: str,
    size: int | None,
    seed: int,
) -> list[Question]:
    """Return the questions of a split that the draw takes, in the order of their files."""
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
    if size is not None:
        kept = set(draw_order((question.qid for question in chosen), seed)[:size])
        chosen = [question for question in chosen if question.qid in kept]
    return chosen


def _released(form: str, paths: Sequence[str], doc_ids: Container[str], answered: bool) -> Iterator[Question]:
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
