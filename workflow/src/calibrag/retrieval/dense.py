"""The dense index: inner products of unit vectors, kept by FAISS, exact or approximate by its type.

==========  ===================================================================================================
type        what a search compares the query with
==========  ===================================================================================================
``flat``    every vector, in float32: exact
``fp16``    every vector, rounded to 16 bits a number: half the memory, several times as fast
``sq8``     every vector, rounded to 8 bits a number: a quarter of the memory
``ivf``     the vectors of the ``probes`` nearest of ``lists`` cells (k-means)
``hnsw``    the vectors met on a walk through a graph of ``links`` neighbours each (Malkov & Yashunin 2016)
==========  ===================================================================================================

Whatever the type, it only proposes candidates: their scores are computed anew from the vectors on disk, in double
precision. Excluded passages are passed over inside the scan, never filtered out of a short list, and a search goes on
until it has ``depth`` passages, or all that there are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pandas as pd
import pyterrier as pt

from calibrag.errors import ConfigError, InputError
from calibrag.retrieval import frames
from calibrag.retrieval.passage_ids import PassageIds, digest, read_ids, write_ids
from calibrag.retrieval.vectors import Embedder, Vectors

FORMAT = 2
"""Version of the index folder; raised when its files change their meaning."""

_INDEX, _IDS, _DESCRIPTION = "index.faiss", "ids.txt", "calibrag.json"
FILES = (_INDEX, _IDS, _DESCRIPTION)
_REBUILD = "build it again: `snakemake --cores 1 --forcerun build_dense_index`"
_SEED = 1234  # of the sample that trains quantisers and cells
_SAMPLE = 256  # vectors a cell in that sample, as FAISS advises at most
_QUANTISED = 100_000  # vectors that train a quantiser

RECALL_DEPTHS = (10, 100)
"""Where recall is measured."""

# FAISS sums single-precision products in an order that depends on batch and threads (noise near 1e-7), so its
# scores only pick candidates; these are scored again in double precision and compared at this precision
_DECIMALS = 5
_SPARE = 50


def build(vectors: Vectors, ids: PassageIds, path: str | Path, settings: Mapping[str, Any]) -> int:
    """Write the index into the folder ``path`` and return how many vectors it holds.

    Parameters
    ----------
    ids
        Passage ids, one a vector, all different.
    settings
        A block of ``indexes.dense``: ``type`` and what the type takes.
    """
    if len(vectors) != len(ids) or not ids.are_distinct():
        raise ValueError(f"ids must be different, one a vector (got {len(ids)} for {len(vectors)} vectors)")
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    # taken away first and written last: a folder without it is an index whose building was cut short
    (path / _DESCRIPTION).unlink(missing_ok=True)
    index = _empty(vectors.dimension, settings)
    if not index.is_trained:
        count = settings["lists"] * _SAMPLE if settings["type"] == "ivf" else _QUANTISED
        rows = np.random.default_rng(_SEED).choice(len(vectors), min(count, len(vectors)), replace=False)
        index.train(vectors[np.sort(rows)])
    for block in vectors.blocks():
        if not np.allclose(np.linalg.norm(block, axis=1), 1, atol=1e-3):
            raise ValueError("vectors must have length 1")
        index.add(block)
    try:
        faiss.write_index(index, str(path / _INDEX))
    except RuntimeError as error:
        raise OSError(f"{path}: the dense index could not be written ({error}); is the disk full?") from error
    write_ids(path / _IDS, ids)
    description = {"format": FORMAT, "passages": len(ids), "dimension": index.d, "ids": digest(ids), **settings}
    (path / _DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    return len(ids)


def _empty(dimension: int, settings: Mapping[str, Any]) -> faiss.Index:
    product = faiss.METRIC_INNER_PRODUCT
    match settings["type"]:
        case "flat":
            return faiss.IndexFlatIP(dimension)
        case "fp16":
            return faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, product)
        case "sq8":
            return faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_8bit, product)
        case "ivf":
            index = faiss.index_factory(dimension, f"IVF{settings['lists']},Flat", product)
            index.cp.seed = _SEED
            return index
        case "hnsw":
            index = faiss.IndexHNSWFlat(dimension, settings["links"], product)
            index.hnsw.efConstruction = settings["build_depth"]
            return index
    raise ConfigError("indexes.dense", f"type must be flat, fp16, sq8, ivf or hnsw (got {settings['type']!r})")


class DenseRetriever(pt.Transformer):
    """Search over an index that `build` wrote; opens it once, index and vectors memory-mapped where FAISS can.

    Input: qid, query and optionally ``exclude``; output: a ranking frame with the input's columns, the score
    being the cosine. All queries of a call are embedded together. A blank query yields no rows.

    Parameters
    ----------
    path
        Folder of the index.
    vectors
        Those that the index was built from.
    embedder
        What embeds the queries; the model must be that of the passages.
    depth
        Passages returned for a query, at most.
    threads
        Threads of FAISS; they are set for the whole process, and change no result.
    device
        ``cpu``, or a CUDA device such as ``cuda`` or ``cuda:1``, which wants the package faiss-gpu. An index on a GPU
        takes no exclusion inside the scan: as many more candidates are fetched as passages are excluded.

    Raises
    ------
    InputError
        The folder holds no whole index of this version.
    ConfigError
        A CUDA device without faiss-gpu, or without such a GPU.
    """

    def __init__(
        self, path: str | Path, vectors: Vectors, embedder: Embedder, depth: int, *, threads: int, device: str = "cpu"
    ):
        faiss.omp_set_num_threads(threads)
        self.path = Path(path)
        self.depth = depth
        self._embedder = embedder
        self._vectors = vectors
        self._index, self.ids, self._settings = _open(self.path, vectors)
        self._on_gpu = device != "cpu"
        if self._on_gpu:
            self._index = _to_gpu(self._index, device)

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
            for i, hits in zip(members, self._search(queries, self.ids.rows(out)), strict=True):
                found[i] = hits
        return frames.results(inp, found)

    def _search(self, queries: np.ndarray, out: np.ndarray) -> list[tuple[list[str], list[float]]]:
        """Return ids and scores of each query's nearest passages outside the rows ``out``."""
        left = len(self) - len(out)
        wanted = min(self.depth, left)
        limit = min(self.depth + _SPARE, left)
        effort = 1
        found: list[tuple[list[str], list[float]] | None] = [None] * len(queries)
        pending = list(range(len(queries))) if left else []
        while pending:
            candidates = self._candidates(queries[pending], limit, out, effort)
            whole = limit == left or effort >= len(self)
            for i, nearest in zip(list(pending), candidates, strict=True):
                nearest = nearest[nearest >= 0]  # FAISS fills up with -1 where it met fewer vectors
                hits = None
                if len(nearest) >= wanted or whole:
                    # an approximate search that met fewer than asked for may have missed some, but no tie is cut
                    hits = self._ranked(queries[i], nearest, whole=whole or len(nearest) < limit)
                if hits is not None:
                    found[i] = hits
                    pending.remove(i)
            limit = min(limit * 4, left)
            effort = min(effort * 4, len(self))
        return [hits or ([], []) for hits in found]

    def _candidates(self, queries: np.ndarray, limit: int, out: np.ndarray, effort: int) -> np.ndarray:
        """Return the rows of the nearest vectors, (queries, limit); -1 where fewer were met.

        ``effort`` multiplies the part of the index that an approximate search visits.
        """
        if self._on_gpu:
            nearest = self._index.search(queries, min(limit + len(out), len(self)))[1]
            return np.where(np.isin(nearest, out), -1, nearest)
        # the names keep the selectors alive: FAISS holds bare pointers to them
        inside = faiss.IDSelectorBatch(out) if len(out) else None
        outside = {"sel": faiss.IDSelectorNot(inside)} if len(out) else {}
        match self._settings["type"]:
            case "ivf":
                probes = min(self._settings["probes"] * effort, self._settings["lists"])
                parameters = faiss.SearchParametersIVF(nprobe=probes, **outside)
            case "hnsw":
                visited = max(self._settings["search_depth"], limit) * effort
                parameters = faiss.SearchParametersHNSW(efSearch=min(visited, len(self)), **outside)
            case _:
                parameters = faiss.SearchParameters(**outside) if outside else None
        return self._index.search(queries, limit, params=parameters)[1]

    def _ranked(self, query: np.ndarray, nearest: np.ndarray, whole: bool) -> tuple[list[str], list[float]] | None:
        """Return the ranking of the candidates; None where a tie may run past them, so that more are needed."""
        scores = np.round(self._vectors[nearest].astype(np.float64) @ query.astype(np.float64), _DECIMALS)
        if not whole and scores.min() >= np.partition(scores, -self.depth)[-self.depth] - 10.0**-_DECIMALS:
            return None
        ids = self.ids.take(nearest)
        best = frames.order(ids, scores, self.depth)
        return [ids[i] for i in best], [float(scores[i]) for i in best]


def measure_recall(
    path: str | Path, vectors: Vectors, embedder: Embedder, queries: Sequence[tuple[str, str]], threads: int
) -> pd.DataFrame:
    """Return for each (qid, query) the recall of an index against exact search: columns qid, depth, recall in [0, 1].

    Recall at a depth is the share of the ``depth`` nearest passages that the index returns among its own ``depth``.
    """
    asked = [(qid, text) for qid, text in queries if text.strip()]
    points = np.asarray(embedder.encode([text for _, text in asked]), dtype=np.float32)
    flat = faiss.IndexFlatIP(vectors.dimension)
    for block in vectors.blocks():
        flat.add(block)
    rows = []
    for depth in RECALL_DEPTHS:
        retriever = DenseRetriever(path, vectors, embedder, depth, threads=threads)
        nobody = np.zeros(0, dtype=np.int64)
        exact = flat.search(points, min(depth + _SPARE, len(vectors)))[1]
        for (qid, _), point, near, found in zip(asked, points, exact, retriever._search(points, nobody), strict=True):
            wanted = set(retriever._ranked(point, near, whole=True)[0])
            rows.append({"qid": qid, "depth": depth, "recall": len(wanted & set(found[0])) / len(wanted)})
    return pd.DataFrame(rows, columns=["qid", "depth", "recall"])


def _open(path: Path, vectors: Vectors) -> tuple[faiss.Index, PassageIds, dict]:
    """Return the opened index, its passage ids and its settings, or raise InputError with the way out."""
    try:
        description = json.loads((path / _DESCRIPTION).read_text(encoding="utf-8"))
        found = description["format"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(path, f"no whole dense index; {_REBUILD}") from None
    if found != FORMAT:
        raise InputError(path, f"dense index must be of format {FORMAT} (got {found}); {_REBUILD}")
    try:
        index = faiss.read_index(str(path / _INDEX), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise InputError(path, f"unreadable dense index ({error}); {_REBUILD}") from error
    ids = read_ids(path / _IDS)
    sizes = (description.get("passages"), index.ntotal, len(ids), len(vectors))
    if len(set(sizes)) != 1 or index.d != vectors.dimension or type(index) is not type(_empty(index.d, description)):
        problem = f"index, ids, vectors and description must be as many (got {sizes[1:]} and {sizes[0]})"
        raise InputError(path, f"dense index is damaged, or of other vectors: {problem}; {_REBUILD}")
    return index, ids, description


def _to_gpu(index: faiss.Index, device: str) -> faiss.Index:
    """Return a copy of the index on a GPU."""
    number = int(device.partition(":")[2] or 0)
    available = faiss.get_num_gpus() if hasattr(faiss, "StandardGpuResources") else 0
    if number >= available:
        way_out = f"choose one of the first {available}" if available else "install faiss-gpu in place of faiss-cpu"
        raise ConfigError("models.device", f"{device}: FAISS sees {available} GPUs; {way_out}, or set cpu")
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), number, index)
