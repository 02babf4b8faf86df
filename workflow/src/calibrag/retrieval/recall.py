"""What an index of vectors finds of the nearest passages."""

from __future__ import annotations

from collections.abc import Sequence

import faiss
import numpy as np
import pandas as pd
from faiss.contrib.exhaustive_search import knn_ground_truth

from calibrag.retrieval.dense import DenseRetriever

DEPTHS = (10, 100)
"""Where recall is measured; a retriever's own depth must be the last at least."""

_NOISE = 1e-5  # of cosines in single precision


def measure_recall(retriever: DenseRetriever, queries: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return for each (qid, query) the recall of an index against a scan: columns qid, depth, recall in [0, 1].

    Recall at a depth is the share of the ``depth`` nearest passages that are among the retriever's first ``depth``; a
    passage as near as the last of them counts like it.
    """
    asked = [(qid, text) for qid, text in queries if text.strip()]
    vectors = retriever.embed([text for _, text in asked])
    found = retriever.search_vectors(vectors, np.zeros(0, dtype=np.int64))
    most = min(max(DEPTHS), len(retriever))
    # on the CPU and block by block, since the vectors may be more than the memory holds
    nearest, _ = knn_ground_truth(vectors, retriever.vectors.blocks(), most, faiss.METRIC_INNER_PRODUCT, ngpu=0)
    rows = []
    for depth in DEPTHS:
        wanted = min(depth, most)
        for (qid, _), near, (_, scores) in zip(asked, nearest, found, strict=True):
            share = np.sum(scores[:wanted] >= near[wanted - 1] - _NOISE) / wanted
            rows.append({"qid": qid, "depth": depth, "recall": float(share)})
    return pd.DataFrame(rows, columns=["qid", "depth", "recall"])
