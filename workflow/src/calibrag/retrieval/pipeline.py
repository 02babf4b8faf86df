"""Retrievers put together by PyTerrier's operators, and searching with them.

lexical % depth ─┐
                 ├─ reciprocal rank fusion >> reranking of the top >> % returned
dense % depth ───┘
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyterrier as pt
from pyterrier_alpha import RRFusion

from calibrag.errors import ConfigError
from calibrag.records import Hit
from calibrag.retrieval import frames

# below what stages round to themselves; takes only the noise of adding reciprocals
_DECIMALS = 12


class Ranked(pt.Transformer):
    """Puts a ranking in its one order: score falling, ties by passage id, rank anew.

    RRFusion breaks ties by the order of the rows that it was given, and pandas decides that order.
    """

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking, ordered, with the columns of `frames.RESULT_COLUMNS`."""
        # RRFusion of empty rankings only returns columns of its own
        if inp.empty:
            return inp.reindex(columns=frames.RESULT_COLUMNS).astype({"score": float, "rank": int})
        return frames.ranked(inp.assign(score=inp["score"].round(_DECIMALS)))[frames.RESULT_COLUMNS]


def build(
    settings: Mapping[str, Any],
    lexical: pt.Transformer | None,
    dense: pt.Transformer | None,
    reranker: pt.Transformer | None,
) -> pt.Transformer:
    """Return the pipeline of a retriever's settings: queries in, the final ranking out.

    Parameters
    ----------
    settings
        ``lexical`` and ``dense`` (each with ``depth``, or None), ``rrf_k``, ``rerank`` (with ``depth``, or None),
        ``returned``: the ``retriever`` block of a system.
    lexical, dense, reranker
        The stages that the settings may take. A stage may return more than its depth here; it must not
        return less: its own depth is at least that of the settings.

    Raises
    ------
    ConfigError
        Neither first stage is asked for, one that is asked for is not given, or a depth cannot be met.
    """
    stages = []
    for key, stage in (("lexical", lexical), ("dense", dense)):
        if settings[key] is not None:
            _check_stage(key, stage, settings[key]["depth"])
            stages.append(stage % settings[key]["depth"])
    if not stages:
        raise ConfigError("retriever", "must have lexical or dense, or both (got neither)")
    pipeline = stages[0]
    if len(stages) > 1:
        # Cormack's formula is 1 / (k + rank) with ranks from 1; RRFusion's ranks count from 0. It must not cut, since
        # it breaks ties otherwise than we do, and `num_results=None` crashes it (pyterrier-alpha 0.16.5)
        longest = settings["lexical"]["depth"] + settings["dense"]["depth"]
        pipeline = RRFusion(*stages, k=settings["rrf_k"] + 1, num_results=longest)
    pipeline = pipeline >> Ranked()
    if settings["rerank"] is not None:
        _check_stage("rerank", reranker, settings["rerank"]["depth"])
        pipeline = pipeline % settings["rerank"]["depth"] >> reranker >> Ranked()
    return pipeline % settings["returned"]


def _check_stage(key: str, stage: pt.Transformer | None, depth: int) -> None:
    if stage is None:
        raise ConfigError(f"retriever.{key}", "is asked for, but its index or model was not given")
    own = getattr(stage, "depth", depth)
    if own < depth:
        problem = f"must be at most what the stage was opened with, {own} (got {depth})"
        raise ConfigError(f"retriever.{key}.depth", problem)


def search(pipeline: pt.Transformer, queries: Sequence[tuple[str, str, Iterable[str]]]) -> dict[str, list[Hit]]:
    """Return the ranking of each query in one call of the pipeline; nothing found is an empty list.

    Parameters
    ----------
    queries
        (qid, query, excluded passage ids), each qid once.
    """
    found: dict[str, list[Hit]] = {qid: [] for qid, _, _ in queries}
    if len(found) != len(queries):
        raise ValueError(f"qids must be different (got {len(queries)} queries with {len(found)} qids)")
    if not queries:
        return found
    frame = pd.DataFrame(
        {
            "qid": [qid for qid, _, _ in queries],
            # half a surrogate pair, as broken JSON escapes leave it, is no UTF-8: no column can hold it
            "query": [query.encode("utf-8", "replace").decode("utf-8") for _, query, _ in queries],
            "exclude": [frozenset(excluded) for _, _, excluded in queries],
        }
    )
    ranking = pipeline.transform(frame)
    columns = (ranking[column].tolist() for column in ("qid", "docno", "rank", "score"))
    for qid, docno, rank, score in zip(*columns, strict=True):
        found[qid].append(Hit(passage_id=docno, rank=rank + 1, score=score))
    return found
