"""The dense index: exact inner-product search over unit vectors, kept by FAISS.

A Flat index compares a query with every vector, so nothing is lost to approximation and an exclusion
cannot leak: excluded vectors are passed over inside the scan, not filtered out of a short list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

import faiss
import numpy as np
import pandas as pd
import pyterrier as pt

from calibrag.errors import InputError
from calibrag.records import Passage
from calibrag.retrieval import frames

FORMAT = 1
"""Version of the index folder; raised when its files change their meaning."""

_DESCRIPTION = "calibrag.json"
_REBUILD = "build it again: `snakemake --cores 1 --forcerun build_dense_index`"
_BLOCK = 4096  # vectors in memory at once while they are written

# FAISS sums single-precision products in an order that depends on batch and threads (noise near 1e-7), so its
# scores only pick candidates; these are scored again in double precision and compared at this precision
_DECIMALS = 5
_SPARE = 50


class Embedder(Protocol):
    """What turns texts into unit vectors: `calibrag.models.embedder.SentenceEmbedder`, or a test's own."""

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return an array (n, dimension) of float32 with rows of length 1."""


def embedding_text(passage: Passage, names: Sequence[str], max_names: int) -> str:
    """Return what stands for a passage in the dense index: first names, title, section heading, contents.

    Parameters
    ----------
    names
        The names annotated in the passage, in their order; the first ``max_names`` different ones are taken.
    """
    first = list(dict.fromkeys(name.strip() for name in names if name.strip()))[:max_names]
    parts = [", ".join(first), passage.title.strip(), (passage.heading or "").strip(), passage.text.strip()]
    return ". ".join(part for part in parts if part)


def embed_passages(
    passages: Iterable[Passage],
    count: int,
    names: Mapping[str, list[str]],
    embedder: Embedder,
    max_names: int,
    path: str | Path,
) -> list[str]:
    """Write the vectors of ``count`` passages to the .npy file ``path``, a block at a time, and return their ids."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    ids: list[str] = []
    vectors = None
    remaining = iter(passages)
    while block := list(islice(remaining, _BLOCK)):
        rows = embedder.encode([embedding_text(p, names.get(p.passage_id, ()), max_names) for p in block])
        if vectors is None:
            vectors = np.lib.format.open_memmap(partial, "w+", np.float32, (count, rows.shape[1]))
        vectors[len(ids) : len(ids) + len(rows)] = rows
        ids.extend(p.passage_id for p in block)
    if vectors is None or len(ids) != count:
        raise ValueError(f"count must be the number of passages, at least 1 (got {count} for {len(ids)} passages)")
    vectors.flush()
    partial.replace(path)
    return ids


def build(vectors: np.ndarray, ids: Sequence[str], path: str | Path) -> int:
    """Write ``index.faiss`` and ``ids.txt`` into the folder ``path`` and return how many vectors they hold.

    Parameters
    ----------
    vectors
        Array (n, dimension) with rows of length 1; may be memory-mapped.
    ids
        Passage ids, one a row, all different.
    """
    if len(vectors) != len(ids) or len(set(ids)) != len(ids):
        raise ValueError(f"ids must be different, one a vector (got {len(set(ids))} for {len(vectors)} vectors)")
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    # taken away first and written last: a folder without it is an index whose building was cut short
    (path / _DESCRIPTION).unlink(missing_ok=True)
    index = faiss.IndexFlatIP(int(vectors.shape[1]))
    for start in range(0, len(vectors), _BLOCK):
        block = np.ascontiguousarray(vectors[start : start + _BLOCK], dtype=np.float32)
        if not np.allclose(np.linalg.norm(block, axis=1), 1, atol=1e-3):
            raise ValueError(f"vectors must have length 1 (rows {start} to {start + len(block) - 1} have others)")
        index.add(block)
    faiss.write_index(index, str(path / "index.faiss"))
    (path / "ids.txt").write_text("".join(f"{passage_id}\n" for passage_id in ids), encoding="utf-8")
    description = {"format": FORMAT, "passages": len(ids), "dimension": index.d}
    (path / _DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    return len(ids)


class DenseRetriever(pt.Transformer):
    """Exact search over an index that `build` wrote; opens it once, its vectors memory-mapped.

    Input: qid, query and optionally ``exclude``; output: a ranking frame with the input's columns, the score
    being the cosine. All queries of a call are embedded together. A blank query yields no rows.

    Parameters
    ----------
    path
        Folder of the index.
    embedder
        What embeds the queries; the model must be that of the passages.
    depth
        Passages returned for a query, at most.
    threads
        Threads of FAISS; they are set for the whole process, and change no result.

    Raises
    ------
    InputError
        The folder holds no whole index of this version.
    """

    def __init__(self, path: str | Path, embedder: Embedder, depth: int, *, threads: int):
        faiss.omp_set_num_threads(threads)
        self.path = Path(path)
        self.depth = depth
        self._embedder = embedder
        self._index, self._ids = _open(self.path)
        self._vectors = faiss.rev_swig_ptr(self._index.get_xb(), self._index.ntotal * self._index.d)
        self._vectors = self._vectors.reshape(self._index.ntotal, self._index.d)
        self._rows: dict[str, int] | None = None

    def __len__(self) -> int:
        return self._index.ntotal

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking of each query."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        found: list[tuple[list[str], list[float]]] = [([], []) for _ in range(len(inp))]
        asked = [i for i, query in enumerate(inp["query"]) if query.strip()]
        texts = list(dict.fromkeys(inp["query"].iloc[i] for i in asked))
        place = {text: row for row, text in enumerate(texts)}
        vectors = np.asarray(self._embedder.encode(texts), dtype=np.float32) if texts else np.zeros((0, self._index.d))
        excluded = frames.exclusions(inp)
        groups: dict[frozenset[str], list[int]] = {}
        for i in asked:
            groups.setdefault(excluded[i], []).append(i)
        for out, members in groups.items():
            queries = vectors[[place[inp["query"].iloc[i]] for i in members]]
            for i, hits in zip(members, self._search(queries, out), strict=True):
                found[i] = hits
        return frames.results(inp, found)

    def _search(self, queries: np.ndarray, excluded: frozenset[str]) -> list[tuple[list[str], list[float]]]:
        """Return ids and scores of each query's nearest passages outside ``excluded``."""
        rows = self._positions(excluded)
        parameters = None
        if len(rows):
            # the names keep the selectors alive: FAISS holds bare pointers to them
            inside = faiss.IDSelectorBatch(rows)
            outside = faiss.IDSelectorNot(inside)
            parameters = faiss.SearchParameters(sel=outside)
        limit = min(self.depth + _SPARE, self._index.ntotal)
        found: list[tuple[list[str], list[float]] | None] = [None] * len(queries)
        pending = list(range(len(queries)))
        while pending:
            candidates = self._index.search(queries[pending], limit, params=parameters)[1]
            for i, nearest in zip(list(pending), candidates, strict=True):
                # FAISS fills up with -1 where fewer vectors are left
                hits = self._ranked(queries[i], nearest[nearest >= 0], whole=limit == len(self) or nearest[-1] < 0)
                if hits is not None:
                    found[i] = hits
                    pending.remove(i)
            limit = min(limit * 4, self._index.ntotal)
        return found

    def _ranked(self, query: np.ndarray, nearest: np.ndarray, whole: bool) -> tuple[list[str], list[float]] | None:
        """Return the ranking of the candidates; None where a tie may run past them, so that more are needed."""
        scores = np.round(self._vectors[nearest].astype(np.float64) @ query.astype(np.float64), _DECIMALS)
        if not whole and scores.min() >= np.partition(scores, -self.depth)[-self.depth] - 10.0**-_DECIMALS:
            return None
        ids = [self._ids[row] for row in nearest]
        best = frames.order(ids, scores, self.depth)
        return [ids[i] for i in best], [float(scores[i]) for i in best]

    def _positions(self, excluded: frozenset[str]) -> np.ndarray:
        """Return the row numbers of these passages; ids that the index lacks have none."""
        if not excluded:
            return np.zeros(0, dtype=np.int64)
        if self._rows is None:
            self._rows = {passage_id: row for row, passage_id in enumerate(self._ids)}
        return np.array(sorted(self._rows[i] for i in excluded if i in self._rows), dtype=np.int64)


def _open(path: Path) -> tuple[faiss.IndexFlatIP, list[str]]:
    """Return the opened index and its passage ids, or raise InputError with the way out."""
    try:
        description = json.loads((path / _DESCRIPTION).read_text(encoding="utf-8"))
        found = description["format"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(path, f"no whole dense index; {_REBUILD}") from None
    if found != FORMAT:
        raise InputError(path, f"dense index must be of format {FORMAT} (got {found}); {_REBUILD}")
    try:
        index = faiss.read_index(str(path / "index.faiss"), faiss.IO_FLAG_MMAP_IFC)
        ids = (path / "ids.txt").read_text(encoding="utf-8").split("\n")[:-1]
    except (RuntimeError, OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"unreadable dense index ({error}); {_REBUILD}") from error
    sizes = (description.get("passages"), index.ntotal, len(ids))
    if len(set(sizes)) != 1 or not isinstance(index, faiss.IndexFlat):
        problem = f"index, ids and description must be as many (got {sizes[1]}, {sizes[2]} and {sizes[0]})"
        raise InputError(path, f"dense index is damaged: {problem}; {_REBUILD}")
    return index, ids
