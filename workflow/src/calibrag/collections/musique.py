"""MuSiQue (Trivedi et al., TACL 2022): paragraphs to documents, questions to gold support.

The paragraphs of one title are pages' parts: one document a title, a section a paragraph; support is the supporting
paragraphs. JSON Lines as released: {id, question, answer, answer_aliases, answerable, paragraphs[{title,
paragraph_text, is_supporting}]}. Questions of the full set that are marked as not answerable are left out and counted:
their own context lacks a paragraph, which the pooled documents hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from calibrag.collections.entries import Place, read_entries
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.page import squeeze
from calibrag.collections.pooling import Gathered, Pool
from calibrag.records import Document, Question, Support


class Paragraph(msgspec.Struct):
    """A paragraph of an entry."""

    title: str
    paragraph_text: str
    is_supporting: bool = False


class Entry(msgspec.Struct):
    """An entry of the release; other fields are passed over."""

    id: str
    question: str
    paragraphs: list[Paragraph]
    answer: str | None = None
    answer_aliases: list[str] = []
    answerable: bool = True
    split: Literal["train", "dev", "test"] = "test"


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document a title over the paragraphs of all entries.

    Raises
    ------
    InputError
        A file is cut off or damaged, or an entry is not as the release has it.
    """
    pool = Pool()
    for path in paths:
        for place, entry in read_entries(path, Entry):
            for number, paragraph in enumerate(entry.paragraphs):
                title = squeeze(paragraph.title)
                if not title:
                    raise place.error("must not be blank", f"paragraphs[{number}].title")
                if text := squeeze(paragraph.paragraph_text):
                    pool.add(title_to_id(title), title, text)
    return pool.documents()


def read_questions(*paths: str) -> Iterator[tuple[Place, Question]]:
    """Yield each answerable question with its place; an entry that names no split is a test question."""
    gathered = Gathered()
    for path in paths:
        for place, entry in read_entries(path, Entry):
            if not entry.answerable:
                gathered.leave_out("questions that are not answerable", entry.id)
                continue
            answers = dict.fromkeys(filter(None, map(squeeze, (entry.answer or "", *entry.answer_aliases))))
            supporting = (paragraph for paragraph in entry.paragraphs if paragraph.is_supporting)
            support = {
                Support(doc_id=title_to_id(squeeze(paragraph.title)), quote=text): None
                for paragraph in supporting
                if (text := squeeze(paragraph.paragraph_text))
            }
            yield (
                place,
                Question(
                    qid=entry.id,
                    text=squeeze(entry.question),
                    # 2hop__, 3hop1__, ...
                    type=entry.id.partition("__")[0] or None,
                    answers=list(answers),
                    support=list(support),
                    split=entry.split,
                ),
            )
    gathered.report()
