"""How good the reranker and the verifier are on held-out pairs, beside cosine and shared words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from calibrag.models.cross_encoder import CrossEncoder
from calibrag.models.training_data import CONTRADICTS, ENTAILS, NEUTRAL, RELEVANT, Pair
from calibrag.models.word_overlap import WordOverlap, shared_words

Encode = Callable[[list[str]], np.ndarray]
COLUMNS = ["data", "metric", "system", "value", "n"]
ALL = "all"


def evaluate_reranker(pairs: Sequence[Pair], cross_encoder: CrossEncoder, encode: Encode) -> pd.DataFrame:
    """Return MRR, recall@2, recall@5 and AUROC, each a mean over questions, of adapter, cosine and BM25.

    Parameters
    ----------
    pairs
        (question, passage); the pairs of a question stand together.
    encode
        From texts to unit vectors, (n, d): the untrained encoder.

    Returns
    -------
    pandas.DataFrame
        Columns data (source, or ``all``), metric, system, value in [0, 1], n (questions). MRR counts the first
        relevant passage. Tied passages are ranked in the order of the file with relevant ones last.
    """
    passages = list(dict.fromkeys(pair.second for pair in pairs))
    place = {passage: number for number, passage in enumerate(passages)}
    overlap = WordOverlap(passages)
    by_query = {query: overlap.scores(query) for query in dict.fromkeys(pair.first for pair in pairs)}
    systems = {
        "adapter": cross_encoder.scores([(pair.first, pair.second) for pair in pairs])[:, 0],
        "cosine": _cosine(pairs, encode),
        "lexical": np.array([by_query[pair.first][place[pair.second]] for pair in pairs]),
    }
    good = np.array([pair.label == RELEVANT for pair in pairs])
    rows = []
    for _, places in groupby(range(len(pairs)), key=lambda number: pairs[number].group):
        places = list(places)
        if good[places].all() or not good[places].any():
            continue
        for system, scores in systems.items():
            for metric, value in _ranking(good[places], scores[places]).items():
                rows += [(data, metric, system, value) for data in (ALL, pairs[places[0]].source)]
    table = pd.DataFrame(rows, columns=COLUMNS[:4])
    means = table.groupby(COLUMNS[:3], sort=True)["value"]
    return means.mean().to_frame().assign(n=means.size()).reset_index()


def evaluate_verifier(pairs: Sequence[Pair], cross_encoder: CrossEncoder, encode: Encode) -> pd.DataFrame:
    """Return the AUROC of P(entails) against contradicted and neutral claims, of adapter, cosine and shared words.

    Returns
    -------
    pandas.DataFrame
        Columns data (source; ``answers`` for all claims about answers together), metric (such as ``AUROC
        entails against contradicts``), system, value in [0, 1], n (pairs). Metrics whose classes the data lack
        are left out.
    """
    texts = [(pair.first, pair.second) for pair in pairs]
    systems = {
        "adapter": cross_encoder.scores(texts)[:, cross_encoder.labels.index(ENTAILS)],
        "cosine": _cosine(pairs, encode),
        "lexical": np.array([shared_words(first, second) for first, second in texts]),
    }
    labels = np.array([pair.label for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    subsets = {source: sources == source for source in sorted(set(sources))}
    subsets["answers"] = ~np.isin(sources, ["fever", "fever-symmetric", "breaking-nli"])
    rows = []
    for data, inside in subsets.items():
        for against in (CONTRADICTS, NEUTRAL):
            chosen = inside & np.isin(labels, [ENTAILS, against])
            if len(set(labels[chosen])) < 2:
                continue
            for system, scores in systems.items():
                value = roc_auc_score(labels[chosen] == ENTAILS, scores[chosen])
                rows.append((data, f"AUROC {ENTAILS} against {against}", system, value, int(chosen.sum())))
    return pd.DataFrame(rows, columns=COLUMNS)


EVALUATIONS = {"reranker": evaluate_reranker, "verifier": evaluate_verifier}
"""How an adapter is measured, by its name."""


def _cosine(pairs: Sequence[Pair], encode: Encode) -> np.ndarray:
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    place = {text: number for number, text in enumerate(texts)}
    vectors = encode(texts)
    first = vectors[[place[pair.first] for pair in pairs]]
    second = vectors[[place[pair.second] for pair in pairs]]
    return (first * second).sum(axis=1)


def _ranking(good: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    ranked = good[np.lexsort((good, -scores))]
    return {
        "MRR": 1 / (1 + int(np.argmax(ranked))),
        "recall@2": _recall(ranked, 2),
        "recall@5": _recall(ranked, 5),
        "AUROC": float(roc_auc_score(good, scores)),
    }


def _recall(ranked: Iterable[bool], depth: int) -> float:
    return float(np.sum(ranked[:depth]) / np.sum(ranked))
