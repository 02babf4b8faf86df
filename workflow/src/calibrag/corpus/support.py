"""From gold support to relevance judgements (qrels) of passages.

A question's supporting fact is a document and words of it. A passage holds the fact if the words stand in it; its
grade is the number of the question's facts that it holds. Words are compared after NFKC, case folding and removal of
punctuation, as whole words where they stand as whole words anywhere in the document.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from calibrag.records import Passage, Question, Support


class UnmatchedFact(NamedTuple):
    """A supporting fact that no passage of its document holds."""

    qid: str
    doc_id: str
    quote: str | None


def qrels(
    questions: Iterable[Question], passages: Iterable[Passage]
) -> tuple[list[tuple[str, str, int]], list[UnmatchedFact]]:
    """Return (qid, passage_id, grade) of every passage that holds a fact, and the facts that none holds.

    Judgements come in the order of the questions, then of the passages. Unsupported questions have none: their
    support names what was taken out of the documents. Passages of documents without facts are not kept in memory.
    """
    questions = [question for question in questions if question.supported]
    wanted = {support.doc_id for question in questions for support in question.support}
    documents: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.doc_id in wanted:
            documents.setdefault(passage.doc_id, []).append(passage)
    places = {passage.passage_id: place for place, passage in enumerate(p for ps in documents.values() for p in ps)}
    judged: list[tuple[str, str, int]] = []
    unmatched: list[UnmatchedFact] = []
    for question in questions:
        grades: dict[str, int] = {}
        for support in dict.fromkeys(question.support):
            holders = holding(support, documents.get(support.doc_id, []))
            if not holders:
                unmatched.append(UnmatchedFact(question.qid, support.doc_id, support.quote))
            for passage_id in holders:
                grades[passage_id] = grades.get(passage_id, 0) + 1
        judged += [(question.qid, passage_id, grades[passage_id]) for passage_id in sorted(grades, key=places.get)]
    return judged, unmatched


def holding(support: Support, passages: list[Passage]) -> list[str]:
    """Return the ids of the passages of the fact's document that hold it, in order; [] if none does.

    A quote of None is held by every passage. A quote that was cut between passages counts for the one that has
    most of it, the earlier one where they have as much.
    """
    if support.quote is None:
        return [passage.passage_id for passage in passages]
    quote = normalise(support.quote)
    if not quote:
        return []
    texts = [normalise(passage.text) for passage in passages]
    for holds in (lambda text: f" {quote} " in f" {text} ", lambda text: quote in text):
        if found := [passage.passage_id for passage, text in zip(passages, texts, strict=True) if holds(text)]:
            return found
    owner = _largest_part(quote, texts)
    return [] if owner is None else [passages[owner].passage_id]


def normalise(text: str) -> str:
    """Return the words of a text, NFKC and case-folded, one space between them."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))


def _largest_part(quote: str, texts: list[str]) -> int | None:
    """Return which of the successive texts has most of a quote that runs over their borders; None if none has it."""
    whole = " ".join(texts)
    start = f" {whole} ".find(f" {quote} ")
    if start < 0:
        return None
    end = start + len(quote)
    parts = []
    at = 0
    for text in texts:
        parts.append(min(end, at + len(text)) - max(start, at))
        at += len(text) + 1
    return max(range(len(parts)), key=parts.__getitem__)
