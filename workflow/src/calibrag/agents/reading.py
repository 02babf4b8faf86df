"""The ``read`` tool: the sentences of one passage that bear on a question."""

from __future__ import annotations

from collections.abc import Generator

from calibrag.agents.protocol import Entail, Entailed
from calibrag.corpus.sentences import sentence_spans
from calibrag.models.text import passage_text
from calibrag.normalisation import content_words
from calibrag.records import Passage


def lead(passage: Passage) -> str:
    """Return the title and heading of a passage, which its text seldom repeats."""
    return passage_text(passage.title, passage.heading, "")


def sentences_of(passage: Passage) -> list[str]:
    """Return the sentences of a text passage, or the rows of a table passage."""
    if passage.kind == "table":
        parts = passage.text.splitlines()
    else:
        parts = [passage.text[start:end] for start, end in sentence_spans(passage.text)]
    return [part.strip() for part in parts if part.strip()]


def read(passage: Passage, question: str, count: int) -> Generator[Entail, list[Entailed], tuple[list[str], str]]:
    """Return at most ``count`` sentences in their order, and what chose them: ``lexical`` or ``entailment``.

    Sentences are scored by the content words that they share with the question; where none shares any, by
    how strongly they entail it (spec/bitem section 3). Ties go to the earlier sentence.
    """
    sentences = sentences_of(passage)
    asked = content_words(question)
    scores: list[float] = [len(asked & content_words(sentence)) for sentence in sentences]
    chosen_by = "lexical"
    if not any(scores):
        chosen_by = "entailment"
        entailed = yield Entail(pairs=[(lead(passage), sentence, question) for sentence in sentences])
        scores = [each.score for each in entailed]
    best = sorted(range(len(sentences)), key=lambda i: (-scores[i], i))[:count]
    return [sentences[i] for i in sorted(best)], chosen_by
