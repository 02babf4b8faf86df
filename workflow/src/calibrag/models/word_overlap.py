"""Lexical relevance without an index: BM25 over a list of texts, for baselines and for hard negatives."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from calibrag.models.training_data import words

K1, B = 0.9, 0.4  # Anserini's settings, a common ground for passages


class WordOverlap:
    """BM25 scores of texts for queries (Robertson and Zaragoza 2009, with the idf of Lucene)."""

    def __init__(self, texts: Sequence[str]):
        self._size = len(texts)
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(texts))
        for place, text in enumerate(texts):
            found = words(text)
            lengths[place] = len(found)
            for word, count in Counter(found).items():
                postings[word].append((place, count))
        norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1)) if len(texts) else lengths
        self._postings = {}
        for word, entries in postings.items():
            places, counts = np.array(entries).T
            idf = np.log(1 + (len(texts) - len(entries) + 0.5) / (len(entries) + 0.5))
            self._postings[word] = (places, idf * counts / (counts + norms[places]))

    def scores(self, query: str) -> np.ndarray:
        """Return the score of each text, (n,) float64; 0 where no word is shared."""
        out = np.zeros(self._size)
        for word in words(query):
            if word in self._postings:
                places, weights = self._postings[word]
                out[places] += weights
        return out

    def top(self, query: str, depth: int) -> list[int]:
        """Return the places of the best ``depth`` texts, best first, ties by place."""
        scores = self.scores(query)
        return [int(place) for place in np.argsort(-scores, kind="stable")[:depth]]


def shared_words(first: str, second: str) -> float:
    """Return the share of the second text's distinct words that the first holds, in [0, 1]."""
    wanted = set(words(second))
    return len(wanted & set(words(first))) / len(wanted) if wanted else 0.0
