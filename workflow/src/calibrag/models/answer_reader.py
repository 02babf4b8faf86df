"""The embedded reader: a small language model chooses among candidate answers found in sentences.

Free generation is hopeless at this size (SmolLM2, 135M parameters); as a scorer of candidates the same model answers
with modest quality, and its probabilities are real model signals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from calibrag.models.answer_candidates import CandidateFinder
from calibrag.models.language_scorer import LanguageScorer


class ScoredAnswer(NamedTuple):
    """A candidate, its share of the probability over all candidates, and the sentences that hold it."""

    text: str
    probability: float
    sentences: tuple[int, ...]


class Embedder(Protocol):
    """What turns texts into unit vectors."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return an array (n, dimension) with rows of length 1."""


class AnswerReader:
    """Answers a question from sentences.

    Parameters
    ----------
    scorer
        Language model, adapted to texts of the form of `body`.
    finder
        Finds the candidates.
    embedder
        Chooses the sentences that are shown, by cosine with the question.
    sentences
        Sentences shown, at most; a small model reads a short text better than a long one.
    candidates
        Candidates scored, at most.
    """

    def __init__(
        self, scorer: LanguageScorer, finder: CandidateFinder, embedder: Embedder, *, sentences: int, candidates: int
    ):
        self.name = scorer.name
        self._scorer = scorer
        self._finder = finder
        self._embedder = embedder
        self._sentences = sentences
        self._candidates = candidates
        self._vectors: dict[tuple[str, str], np.ndarray] = {}

    def read(self, question: str, sentences: Sequence[tuple[str, str]]) -> tuple[list[ScoredAnswer], int]:
        """Return the candidates in the order found, scored, and the tokens computed; none where nothing was found.

        Parameters
        ----------
        sentences
            (title, sentence) pairs; positions in the answers point into them.
        """
        shown = self._choose(question, sentences)
        candidates = self._finder.find(question, [sentences[i] for i in shown], self._candidates)
        if not candidates:
            return [], 0
        text = body(question, [sentences[i] for i in sorted(shown)])
        scores, tokens = self._scorer.score(text, [continuation(candidate.text) for candidate in candidates])
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        answers = [
            ScoredAnswer(candidate.text, weight / sum(weights), tuple(shown[i] for i in candidate.sentences))
            for candidate, weight in zip(candidates, weights, strict=True)
        ]
        return answers, tokens

    def _choose(self, question: str, sentences: Sequence[tuple[str, str]]) -> list[int]:
        """Return the positions of the sentences nearest to the question, nearest first."""
        texts = [f"{title}: {text}" for title, text in sentences]
        # a sentence is read again after each further search; by question, since a vector in half precision depends on
        # its batch, which must hold the same sentences whatever else this process has read
        keys = [(question, text) for text in texts]
        if unknown := [key for key in dict.fromkeys(keys) if key not in self._vectors]:
            self._vectors |= zip(unknown, self._embedder.encode([text for _, text in unknown]), strict=True)
        cosines = np.round(np.stack([self._vectors[key] for key in keys]) @ self._embedder.encode([question])[0], 4)
        return sorted(range(len(sentences)), key=lambda i: (-cosines[i], i))[: self._sentences]


def continuation(answer: str) -> str:
    """Return an answer as it follows a `body`; the end of the line belongs to it, since answers differ in length."""
    return f" {answer}\n"


def body(question: str, sentences: Sequence[tuple[str, str]]) -> str:
    """Return what the language model reads: sentences under their titles, then the question."""
    lines, previous = [], None
    for title, text in sentences:
        if title != previous:
            lines.append(f"Title: {title}")
            previous = title
        lines.append(text.strip())
    return "\n".join([*lines, f"Question: {question}", "Answer:"])
