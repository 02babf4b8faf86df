"""The tables that pass between retrieval stages: PyTerrier's, with one order that nothing else decides.

Inside a pipeline a ranking is a frame with the columns qid, query, docno, score and rank, rank from 0 as
PyTerrier counts; outside, `calibrag.records.Hit` counts from 1. The optional query column ``exclude`` holds
the passages that a row's search must not return.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

RANKING = ("docno", "score", "rank")
RESULT_COLUMNS = ["qid", "query", "docno", "score", "rank"]


def exclusions(queries: pd.DataFrame) -> list[frozenset[str]]:
    """Return what each row excludes; nothing where the column or the cell is missing.

    Raises
    ------
    TypeError
        A cell is a single string: its letters would be taken for passages, and nothing be excluded.
    """
    if "exclude" not in queries.columns:
        return [frozenset()] * len(queries)
    return [_exclusion(cell) for cell in queries["exclude"]]


def _exclusion(cell: Iterable[str] | float | None) -> frozenset[str]:
    if isinstance(cell, str):
        raise TypeError(f"exclude must be a collection of passage ids (got the string {cell!r})")
    # pandas turns an absent cell into NaN
    return frozenset() if cell is None or isinstance(cell, float) else frozenset(cell)


def order(ids: Sequence[str], scores: np.ndarray, depth: int | None) -> list[int]:
    """Return positions by falling score, equal scores by passage id, cut at ``depth`` (None: all)."""
    return sorted(range(len(ids)), key=lambda i: (-scores[i], ids[i]))[:depth]


def results(queries: pd.DataFrame, found: Sequence[tuple[Sequence[str], Sequence[float]]]) -> pd.DataFrame:
    """Return the ranking frame of a first stage.

    Parameters
    ----------
    queries
        The stage's input, one query a row; its other columns are carried along.
    found
        For each row the passage ids and scores, best first.
    """
    counts = np.array([len(ids) for ids, _ in found], dtype=int)
    places = np.repeat(np.arange(len(queries)), counts)
    # column by column: selecting rows of the whole frame takes several times as long
    columns = {name: queries[name].array.take(places) for name in queries.columns}
    columns["docno"] = pd.array([pid for ids, _ in found for pid in ids], dtype="str")
    columns["score"] = np.array([score for _, scores in found for score in scores], dtype=float)
    columns["rank"] = np.array([rank for count in counts for rank in range(count)], dtype=int)
    # what the queries had of a ranking gives way to the new one, which stands last
    order = [name for name in columns if name not in RANKING] + list(RANKING)
    return pd.DataFrame({name: columns[name] for name in order})


def ranked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a ranking in its one order: queries as they first appear, score falling, ties by passage id."""
    place = pd.factorize(frame["qid"])[0]
    rows = np.lexsort((frame["docno"].to_numpy(dtype=object).astype(str), -frame["score"].to_numpy(float), place))
    frame = frame.iloc[rows].reset_index(drop=True)
    frame["rank"] = frame.groupby("qid", sort=False).cumcount().astype(int)
    return frame
