"""Reranking of a ranking's top by a model that reads query and passage together."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pandas as pd
import pyterrier as pt

from calibrag.models.text import passage_text
from calibrag.records import Passage
from calibrag.retrieval import frames

# a model's score moves in its last digits with the companions of a pair in a batch
_DECIMALS = 5


class PairScorer(Protocol):
    """What scores pairs: `calibrag.models.cross_encoder.CrossEncoder`, or a test's own."""

    def scores(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Return an array (n, labels); the first column is the relevance, in [0, 1]."""


class PassageSource(Protocol):
    """What holds the passages: `calibrag.corpus.store.PassageStore`, or a dict."""

    def __getitem__(self, passage_id: str) -> Passage:
        """Return a passage."""


class CrossEncoderReranker(pt.Transformer):
    """Reorders the first ``depth`` passages of each query by a cross-encoder and cuts the rest.

    The pairs of all queries of a call are scored in one batch, each different pair once. What lay below
    ``depth`` is dropped, since its scores cannot be compared with the new ones.

    Parameters
    ----------
    cross_encoder
        Scores (query, `calibrag.models.text.passage_text`) pairs.
    store
        Holds the passages.
    depth
        Passages of each query that are scored and returned, at most.
    """

    def __init__(self, cross_encoder: PairScorer, store: PassageSource, depth: int):
        self.cross_encoder = cross_encoder
        self.store = store
        self.depth = depth

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the reordered rankings."""
        pt.validate.result_frame(inp, extra_columns=["query", "score", "rank"], context=self)
        top = inp[inp["rank"] < self.depth].reset_index(drop=True)
        keys = list(zip(top["query"], top["docno"], strict=True))
        if not keys:
            return top
        place = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        passages = {docno: self.store[docno] for docno in dict.fromkeys(top["docno"])}
        texts = {docno: passage_text(p.title, p.heading, p.text) for docno, p in passages.items()}
        scores = self.cross_encoder.scores([(query, texts[docno]) for query, docno in place])[:, 0]
        if not np.isfinite(scores).all():
            broken = int((~np.isfinite(scores)).sum())
            raise ValueError(f"cross-encoder scores must be finite (got {broken} of {len(scores)} that are not)")
        top["score"] = np.round(scores.astype(float)[[place[key] for key in keys]], _DECIMALS)
        return frames.ranked(top)
