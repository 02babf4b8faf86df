"""The co-occurrence graph of names: which names stand together in passages, and search along its edges.

Nodes are the names of ``retrieval.entities``; an edge joins two names that enough passages carry both. The strength
of an edge is its pointwise mutual information in bits (Church & Hanks 1990), with k added to every count:

    PMI(x, y) = log2( (c_xy + k) (N + k) / ((c_x + k) (c_y + k)) )

with c the numbers of passages that carry the names and N that of all passages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyterrier as pt
from scipy.sparse import csr_array

from calibrag.errors import InputError
from calibrag.normalisation import FUNCTION_WORDS, name_key
from calibrag.records import whole_file
from calibrag.retrieval import frames
from calibrag.retrieval.entities import NameIndex

EDGES = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("target", pa.int32(), nullable=False),
        pa.field("passages", pa.int32(), nullable=False),
        pa.field("pmi", pa.float32(), nullable=False),
    ]
)
"""Edges, each once, by rising source, then target: numbers of two names, source < target; shared passages; PMI."""

_REBUILD = "remove it and run the workflow again"
_WORK = 20_000_000  # pairs of names counted at once; about 0.5 GB
_LONGEST = 8  # words of a name that is looked for in a query
_DECIMALS = 5


def build(index: NameIndex, path: str | Path, *, min_count: int, smoothing: float, names_per_passage: int) -> int:
    """Write the edges to the Parquet file ``path``, a block of names at a time, and return how many.

    Parameters
    ----------
    min_count
        Passages that two names must share.
    smoothing
        The k of the formula, 0 or more.
    names_per_passage
        Names of a passage that are paired, its commonest; pairs grow with the square of a list.
    """
    count = 0
    # as floats: a product of two counts leaves the range of 32 bits
    counts = index.counts.astype(float) + smoothing
    with whole_file(path) as partial, pq.ParquetWriter(partial, EDGES, compression="zstd") as writer:
        for source, target, shared in _pairs(_capped(index, min_count, names_per_passage), min_count):
            joint = (shared.astype(float) + smoothing) * (index.passages + smoothing)
            pmi = np.log2(joint / (counts[source] * counts[target]))
            columns = [pa.array(column.astype(np.int32)) for column in (source, target, shared)]
            columns.append(pa.array(pmi.astype(np.float32)))
            writer.write_table(pa.Table.from_arrays(columns, schema=EDGES))
            count += len(source)
    return count


def _capped(index: NameIndex, min_count: int, most: int) -> csr_array:
    """Return the matrix (passages, names) without names too rare for an edge, each passage cut to its commonest."""
    matrix = index.by_passage
    owner = np.repeat(np.arange(index.passages), np.diff(matrix.indptr))
    kept = index.counts[matrix.indices] >= min_count
    owner, nodes = owner[kept], matrix.indices[kept]
    order = np.lexsort((nodes, -index.counts[nodes], owner))
    owner, nodes = owner[order], nodes[order]
    within = np.arange(len(owner)) - np.searchsorted(owner, owner)
    owner, nodes = owner[within < most], nodes[within < most]
    return csr_array((np.ones(len(owner), dtype=np.int32), (owner, nodes)), shape=matrix.shape)


def _pairs(matrix: csr_array, min_count: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield (source, target, shared passages) of the pairs that share enough, a block of sources at a time."""
    carriers = matrix.T.tocsr()
    # what a name costs: the lengths of all lists that it stands in
    cost = np.cumsum(carriers @ np.diff(matrix.indptr))
    start = 0
    while start < carriers.shape[0]:
        done = cost[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(cost, done + _WORK, side="right")))
        shared = (carriers[start:stop] @ matrix).tocoo()
        source, target = shared.row + start, shared.col
        kept = (source < target) & (shared.data >= min_count)
        source, target, times = source[kept], target[kept], shared.data[kept]
        order = np.lexsort((target, source))
        yield source[order], target[order], times[order]
        start = stop


class GraphMatch(NamedTuple):
    """What the graph has for a query: the joined names, and passages that carry two of them, best first."""

    names: list[str]
    passage_ids: list[str]
    scores: list[float]


class GraphRetriever(pt.Transformer):
    """Passages along the edges between names of a query.

    Names are found in a query from left to right, the longest first, by `normalisation.name_key`; a function word
    alone is no name. A query matches where at least two of its names are joined by an edge of positive PMI: one name
    alone adds nothing that the sparse index's field of names does not know. A passage that carries both names of
    such an edge scores its PMI, summed over edges; equal scores stand in the order of the corpus. A match needs a
    passage that is not excluded, so that an edge which only excluded passages bear is not told.

    Input: qid, query and optionally ``exclude``; output: a ranking frame with the input's columns.

    Parameters
    ----------
    index, edges
        Names, and the edges that `build` wrote over them.
    passage_ids
        Ids of the passages, by row.
    depth
        Passages returned for a query, at most.
    """

    def __init__(self, index: NameIndex, edges: pa.Table, passage_ids: Sequence[str], depth: int):
        self.index = index
        self.depth = depth
        self._ids = passage_ids
        self._target, self._pmi = (edges.column(name).to_numpy() for name in ("target", "pmi"))
        self._starts = np.searchsorted(edges.column("source").to_numpy(), np.arange(len(index) + 1))
        spaces = pc.max(pc.count_substring(index.keys, " ")).as_py() or 0
        self._longest = min(_LONGEST, spaces + 1)

    @classmethod
    def open(cls, folder: str | Path, passage_ids: Sequence[str], depth: int) -> GraphRetriever:
        """Return the retriever of a folder with ``nodes.parquet`` and ``edges.parquet``.

        Raises
        ------
        InputError
            A file is damaged, or the edges are of other names.
        """
        index = NameIndex.open(Path(folder) / "nodes.parquet", len(passage_ids))
        path = Path(folder) / "edges.parquet"
        try:
            edges = pq.read_table(path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(path, f"no edges of a graph ({error}); {_REBUILD}") from error
        if edges.schema.names != EDGES.names:
            raise InputError(path, f"must have the columns {EDGES.names} (got {edges.schema.names}); {_REBUILD}")
        if len(edges) and pc.max(edges.column("target")).as_py() >= len(index):
            raise InputError(path, f"joins names that are not among the {len(index)} nodes; {_REBUILD}")
        return cls(index, edges, passage_ids, depth)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking of each query; no rows where the graph does not match."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        matches = [self.match(text, out) for text, out in zip(inp["query"], frames.exclusions(inp), strict=True)]
        return frames.results(inp, [(match.passage_ids, match.scores) for match in matches])

    def match(self, query: str, excluded: Collection[str]) -> GraphMatch:
        """Return what the graph has for a query outside the excluded passages; nothing where it does not match."""
        nodes = self.names_in(query)
        edges = [
            (a, b, pmi)
            for place, a in enumerate(nodes)
            for b in nodes[place + 1 :]
            if (pmi := self.pmi(a, b)) is not None and pmi > 0
        ]
        if not edges:
            return GraphMatch([], [], [])
        shared = [np.intersect1d(self.index.rows(a), self.index.rows(b), assume_unique=True) for a, b, _ in edges]
        rows, place = np.unique(np.concatenate(shared), return_inverse=True)
        weights = np.repeat([pmi for *_, pmi in edges], [len(part) for part in shared])
        scores = np.round(np.bincount(place, weights), _DECIMALS)
        best = np.lexsort((rows, -scores))[: self.depth + len(excluded)]
        best = [i for i in best if self._ids[rows[i]] not in excluded][: self.depth]
        borne = [edge for edge, part in zip(edges, shared, strict=True) if np.isin(rows[best], part).any()]
        joined = [node for node in nodes if any(node in edge[:2] for edge in borne)]
        return GraphMatch(
            [self.index.names[node].as_py() for node in joined],
            [self._ids[rows[i]] for i in best],
            [float(scores[i]) for i in best],
        )

    def names_in(self, text: str) -> list[int]:
        """Return the numbers of the names in a text, each once, in order of mention, the longest at each place."""
        words = name_key(text).split()
        found: list[int] = []
        place = 0
        while place < len(words):
            for length in range(min(self._longest, len(words) - place), 0, -1):
                piece = " ".join(words[place : place + length])
                node = self.index.find(piece)
                if node is not None and piece not in FUNCTION_WORDS:
                    found.append(node)
                    place += length
                    break
            else:
                place += 1
        return list(dict.fromkeys(found))

    def pmi(self, a: int, b: int) -> float | None:
        """Return the strength of the edge between two names, in bits; None where there is none."""
        source, target = sorted((a, b))
        start, stop = self._starts[source : source + 2]
        place = start + np.searchsorted(self._target[start:stop], target)
        return float(self._pmi[place]) if place < stop and self._target[place] == target else None
