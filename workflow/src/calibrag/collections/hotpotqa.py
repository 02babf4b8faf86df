"""HotpotQA (Yang et al., EMNLP 2018), distractor setting: contexts to documents, questions to gold support.

One document a title. Sentences are joined by one space, so that each is a literal substring of its document.
2WikiMultihopQA (Ho et al., COLING 2020) is released in the same form and read by the same functions. A file is a
JSON array, as released, or JSON Lines; an entry has ``_id`` (or ``id``), ``question``, ``answer`` (or ``answers``),
``type``, and either ``context`` [[title, [sentence, ...]], ...] with ``supporting_facts`` [[title, index], ...] or
``paragraphs`` [{title, text, is_supporting}, ...], whose support is the whole paragraph.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from calibrag.collections.entries import Place, read_entries
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.pooling import Pool
from calibrag.errors import InputError
from calibrag.records import Document, Question, Section, Support, TextBlock


class Paragraph(msgspec.Struct):
    """A paragraph of an entry."""

    title: str
    text: str
    is_supporting: bool = False


class Entry(msgspec.Struct):
    """An entry of the release; other fields are passed over."""

    question: str
    official_id: str | None = msgspec.field(default=None, name="_id")
    id: str | None = None
    answer: str | None = None
    answers: list[str] | None = None
    type: str | None = None
    split: Literal["train", "dev", "test"] = "test"
    context: list[tuple[str, list[str]]] = []
    supporting_facts: list[tuple[str, int]] = []
    paragraphs: list[Paragraph] = []


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document a title over the contexts of all entries; where contexts differ, each text is a section.

    Raises
    ------
    InputError
        A file is cut off or damaged, or an entry is not as the release has it.
    """
    pool = Pool()
    for path in paths:
        for place, entry in read_entries(path, Entry):
            if not entry.context and not entry.paragraphs:
                raise place.error("must hold paragraphs (got none)", "context")
            for title, sentences in _contexts(entry):
                title = clean_title(title)
                if not title:
                    raise place.error("a title must not be blank", "context")
                if text := _join(sentences):
                    pool.add(title_to_id(title), title, text)
    return pool.documents()


def read_questions(*paths: str) -> Iterator[tuple[Place, Question]]:
    """Yield each question with its place; an entry that names no split is a test question."""
    for path in paths:
        for place, entry in read_entries(path, Entry):
            qid = entry.official_id or entry.id
            if not qid:
                raise place.error("missing; every entry needs one", "_id")
            answers = entry.answers if entry.answers is not None else [entry.answer] if entry.answer is not None else []
            facts = entry.supporting_facts or _paragraph_facts(entry)
            yield place, _question(qid, entry.question, entry.type, answers, list(_contexts(entry)), facts, entry.split)


def _contexts(entry: Entry) -> Iterator[tuple[str, list[str]]]:
    yield from entry.context
    if not entry.context:
        yield from ((paragraph.title, [paragraph.text]) for paragraph in entry.paragraphs)


def _paragraph_facts(entry: Entry) -> list[tuple[str, int]]:
    return [(paragraph.title, 0) for paragraph in entry.paragraphs if paragraph.is_supporting]


def clean_title(title: str) -> str:
    """Return a title without the HTML entities that the release has in some (``Hall &amp; Oates``)."""
    return " ".join(html.unescape(title).split())


def documents(entries: Iterable[Mapping], paragraphs: Iterable[Mapping], file: str) -> Iterator[Document]:
    """Yield a document for each title of the contexts, then for each further title of the paragraphs.

    Parameters
    ----------
    entries
        Questions: {context[[title, [sentence, ...]], ...], ...}
    paragraphs
        A pool to search beside them: {title, text}. Where a context has the title too, its sentences win.

    Raises
    ------
    InputError
        Two contexts give one title different text.
    """
    texts: dict[str, str] = {}
    for entry in entries:
        for title, sentences in entry["context"]:
            title, text = clean_title(title), _join(sentences)
            if texts.setdefault(title, text) != text:
                raise InputError(file, f"two texts under the title {title!r}", field="context")
    for paragraph in paragraphs:
        texts.setdefault(clean_title(paragraph["title"]), _join([paragraph["text"]]))
    for title, text in texts.items():
        if text:
            yield Document(doc_id=title_to_id(title), title=title, sections=[Section(blocks=[TextBlock(text=text)])])


def question(entry: Mapping, split: str) -> Question:
    """Return a question; support is its supporting sentences. An index past the context's end is left out."""
    return _question(
        entry["id"],
        entry["question"],
        entry["type"],
        [entry["answer"]],
        entry["context"],
        entry["supporting_facts"],
        split,
    )


def _question(
    qid: str,
    text: str,
    kind: str | None,
    answers: Iterable[str],
    contexts: Iterable[tuple[str, Sequence[str]]],
    facts: Iterable[tuple[str, int]],
    split: str,
) -> Question:
    sentences = {clean_title(title): context for title, context in contexts}
    support: dict[Support, None] = {}
    for title, index in facts:
        context = sentences.get(clean_title(title), [])
        if 0 <= index < len(context) and context[index].strip():
            doc_id = title_to_id(clean_title(title))
            support[Support(doc_id=doc_id, quote=_join([context[index]]))] = None
    return Question(
        qid=qid,
        text=_unescape(text),
        type=kind,
        answers=list(map(_unescape, answers)),
        support=list(support),
        split=split,
    )


def _unescape(text: str) -> str:
    return " ".join(html.unescape(text).split())


def _join(sentences: Iterable[str]) -> str:
    cleaned = (" ".join(sentence.split()) for sentence in sentences)
    return " ".join(sentence for sentence in cleaned if sentence)
