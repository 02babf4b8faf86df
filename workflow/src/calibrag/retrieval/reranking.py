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
# probabilities nearer to 0 or 1 are not told apart: a sigmoid in single precision rounds them
_LEAST = 1e-7


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

    The score is the logit of the relevance plus ``first_stage`` times the first stage's score as a share of the
    query's best: what words and vectors say of a passage is evidence that a small cross-encoder does not hold. The
    pairs of all queries of a call are scored in one batch, each different pair once. What lay below ``depth`` is
    dropped, since its scores cannot be compared with the new ones.

    Parameters
    ----------
    cross_encoder
        Scores (query, passage) pairs; a passage is its title, heading and text, as the adapter was trained.
    store
        The passages.
    depth
        Passages of each query that are scored.
    first_stage
        Weight of the first stage, in logits, 0 or more.

    Raises
    ------
    ValueError
        The cross-encoder returns a score that is not finite.
    """

    def __init__(self, cross_encoder: PairScorer, store: PassageSource, depth: int, first_stage: float):
        self.cross_encoder = cross_encoder
        self.store = store
        self.depth = depth
        self.first_stage = first_stage

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
        relevance = np.clip(scores.astype(float)[[place[key] for key in keys]], _LEAST, 1 - _LEAST)
        best = top.groupby("qid")["score"].transform("max").to_numpy()
        share = np.divide(top["score"].to_numpy(), best, out=np.zeros(len(top)), where=best > 0)
        top["score"] = np.round(np.log(relevance / (1 - relevance)) + self.first_stage * share, _DECIMALS)
        return frames.ranked(top)
