"""The dense index: inner products of unit vectors, kept by FAISS, exact or approximate by its type.

========  ====================================================================================================
type      what a search compares the query with
========  ====================================================================================================
``flat``  every vector, in 32 bits a number: exact
``fp16``  every vector, rounded to 16 bits a number: exact, in half the memory
``sq8``   every vector, rounded to 8 bits a number: exact, in a quarter of the memory
``ivf``   the vectors of the ``probes`` nearest of ``lists`` cells, which k-means makes: approximate
``hnsw``  the vectors on a walk through a graph of ``links`` neighbours each (Malkov & Yashunin 2016): approximate
========  ====================================================================================================

FAISS only proposes candidates, whatever the type. They are scored again in double precision from the vectors on disk,
so that scores do not depend on the type. A rounded vector is off by a known length at most, and a score by no more:
``fp16`` and ``sq8`` fetch candidates until no other vector can belong to the ranking.

Excluded passages are passed over inside the scan, never filtered out of a short list, and a search goes on until it
has ``depth`` passages, or all that there are.

With ``device: cuda`` FAISS searches on a GPU (``flat`` and ``ivf``; package ``faiss-gpu`` in place of ``faiss-cpu``).
That path has been tested with stand-ins for FAISS's functions alone: it has not run on a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pandas as pd
import pyterrier as pt
from faiss.contrib.exhaustive_search import knn_ground_truth

from calibrag.corpus.passage_ids import PassageIds, digest, read_ids, write_ids
from calibrag.errors import ConfigError
from calibrag.retrieval import frames
from calibrag.retrieval.index_folder import IndexFolder, WriteError
from calibrag.retrieval.vectors import Embedder, Vectors

FORMAT = 2
"""Version of the index folder; raised when its files change their meaning."""

_CODES = {"fp16": faiss.ScalarQuantizer.QT_fp16, "sq8": faiss.ScalarQuantizer.QT_8bit}
_IVF_CODES = {"float32": "Flat", "fp16": "SQfp16", "sq8": "SQ8"}
_ON_GPU = ("flat", "ivf")
_MOST_ON_GPU = 2048  # candidates that FAISS returns from a GPU

_SEED = 1234  # of the sample that the cells are made from
_SAMPLE = 256  # vectors a cell in that sample, the most that FAISS advises
_WIDEST = 64  # times more of an approximate index than asked for; who then lacks passages gets a scan

# FAISS sums single-precision products in an order that depends on batch and threads (noise near 1e-7), so its
# scores only pick candidates; these are scored again in double precision and compared at this precision
_DECIMALS = 5
_SPARE = 50


def build(vectors: Vectors, ids: PassageIds, path: str | Path, settings: Mapping[str, Any], *, threads: int) -> int:
    """Write the index into the folder ``path`` and return how many vectors it holds.

    Parameters
    ----------
    vectors
        With rows of length 1; a block of them is in memory at a time, beside what the type keeps.
    ids
        Passage ids, one a row, all different.
    settings
        ``type``, and what it takes: ``lists`` and ``codes`` of ``ivf``, ``links`` and ``build_depth`` of ``hnsw``.
    threads
        Threads of FAISS; with more than one, the graph of ``hnsw`` differs a little from one building to the next.

    Raises
    ------
    ConfigError
        More cells than passages.
    CalibragError
        The disk is full; no whole index is left.
    """
    if len(vectors) != len(ids) or not ids.are_distinct():
        raise ValueError(f"ids must be different, one a vector (got {len(ids)} ids for {len(vectors)} vectors)")
    faiss.omp_set_num_threads(threads)
    with _folder(path).building() as facts:
        index = _empty(vectors, settings)
        error = 0.0
        for block in vectors.blocks():
            if not np.allclose(np.linalg.norm(block, axis=1), 1, atol=1e-3):
                raise ValueError("vectors must have length 1 (some have another)")
            index.add(block)
            if settings["type"] in _CODES:
                error = max(error, np.linalg.norm(block - index.sa_decode(index.sa_encode(block)), axis=1).max())
        try:
            faiss.write_index(index, str(Path(path) / "index.faiss"))
        except RuntimeError as problem:
            raise WriteError(str(problem).splitlines()[0]) from problem
        write_ids(Path(path) / "ids.txt", ids)
        facts |= {"passages": len(ids), "ids": digest(ids), "vectors": vectors.digest}
        facts |= {"settings": dict(settings), "largest_error": float(error)}
    return len(ids)


def _empty(vectors: Vectors, settings: Mapping[str, Any]) -> faiss.Index:
    """Return a trained index without vectors."""
    product, dimension = faiss.METRIC_INNER_PRODUCT, vectors.dimension
    match settings["type"]:
        case "flat":
            return faiss.IndexFlatIP(dimension)
        case "fp16" | "sq8" as kind:
            index = faiss.IndexScalarQuantizer(dimension, _CODES[kind], product)
            # its steps follow from least and greatest numbers alone: with those of all vectors none is cut off
            blocks = [(block.min(axis=0), block.max(axis=0)) for block in vectors.blocks()]
            index.train(
                np.stack([np.min([low for low, _ in blocks], axis=0), np.max([high for _, high in blocks], axis=0)])
            )
            return index
        case "ivf":
            if settings["lists"] > len(vectors):
                problem = f"must be at most the number of passages, {len(vectors)} (got {settings['lists']})"
                raise ConfigError("indexes.dense.*.lists", problem)
            factory = f"IVF{settings['lists']},{_IVF_CODES[settings['codes']]}"
            index = faiss.index_factory(dimension, factory, product)
            index.cp.seed = _SEED
            count = min(settings["lists"] * _SAMPLE, len(vectors))
            rows = np.random.default_rng(_SEED).choice(len(vectors), count, replace=False)
            index.train(vectors[np.sort(rows)])
            return index
        case "hnsw":
            index = faiss.IndexHNSWFlat(dimension, settings["links"], product)
            index.hnsw.efConstruction = settings["build_depth"]
            return index
        case kind:
            raise ConfigError("indexes.dense.*.type", f"must be flat, fp16, sq8, ivf or hnsw (got {kind!r})")


class DenseRetriever(pt.Transformer):
    """Search over an index that `build` wrote; opens it once, index and vectors memory-mapped.

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
    settings
        How to search: ``device``; ``rescore`` (candidates fetched at first, times ``depth``) of ``fp16``, ``sq8`` and
        ``ivf``; ``probes`` of ``ivf``; ``search_depth`` of ``hnsw``.
    threads
        Threads of FAISS; they are set for the whole process, and change no result.

    Attributes
    ----------
    vectors
        As given.
    ids
        Passage ids by row.
    corpus
        Digest of the ids of the passages that it was built from.
    built
        The settings that the index was built with.

    Raises
    ------
    InputError
        The folder holds no whole index of this version, or one of other vectors.
    ConfigError
        A device that FAISS or the type does not have.
    """

    def __init__(
        self,
        path: str | Path,
        vectors: Vectors,
        embedder: Embedder,
        depth: int,
        settings: Mapping[str, Any],
        *,
        threads: int,
    ):
        faiss.omp_set_num_threads(threads)
        self.depth = depth
        self.folder = _folder(path)
        self._embedder = embedder
        self.vectors = vectors
        self._settings = settings
        description = self.folder.description()
        self.corpus = description["ids"]
        self.built = description["settings"]
        self._type = self.built["type"]
        self._margin = description["largest_error"] + 10.0**-_DECIMALS
        self._first = depth + _SPARE
        if self._type in ("fp16", "sq8", "ivf"):
            self._first = max(self._first, depth * settings["rescore"])
        self._index, self.ids = self._open(description)
        self._on_gpu = settings["device"] != "cpu"
        if self._on_gpu:
            self._index = _to_gpu(self._index, self._type, settings["device"])

    def __len__(self) -> int:
        return len(self.ids)

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the ranking of each query."""
        pt.validate.query_frame(inp, extra_columns=["query"], context=self)
        found: list[tuple[list[str], list[float]]] = [([], []) for _ in range(len(inp))]
        asked = [i for i, query in enumerate(inp["query"]) if query.strip()]
        texts = list(dict.fromkeys(inp["query"].iloc[i] for i in asked))
        place = {text: row for row, text in enumerate(texts)}
        vectors = self.embed(texts)
        excluded = frames.exclusions(inp)
        groups: dict[frozenset[str], list[int]] = {}
        for i in asked:
            groups.setdefault(excluded[i], []).append(i)
        for out, members in groups.items():
            queries = vectors[[place[inp["query"].iloc[i]] for i in members]]
            for i, (rows, scores) in zip(members, self.search_vectors(queries, self.ids.rows(out)), strict=True):
                found[i] = self.ids.take(rows), scores.tolist()
        return frames.results(inp, found)

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return an array (n, dimension) of float32: the vectors of some queries."""
        if not texts:
            return np.zeros((0, self.vectors.dimension), dtype=np.float32)
        return np.asarray(self._embedder.encode(texts), dtype=np.float32)

    def search_vectors(self, queries: np.ndarray, out: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return rows and cosines, best first, of each query's nearest vectors outside the rows ``out``."""
        left = len(self) - len(out)
        if not left:
            return [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(queries)
        limit = min(self._first, left)
        effort = 1
        found: list[tuple[np.ndarray, np.ndarray] | None] = [None] * len(queries)
        pending = list(range(len(queries)))
        while pending:
            near, rows = self._candidates(queries[pending], limit, out, effort)
            short = []
            for i, approximate, candidates in zip(pending, near, rows, strict=True):
                # FAISS fills up with -1 where it met fewer vectors
                candidates = candidates[candidates >= 0]
                if len(candidates) < limit:
                    short.append(i)
                elif limit == left:
                    found[i] = self._ranked(queries[i], candidates)
                else:
                    found[i] = self._ranked(queries[i], candidates, least=approximate[-1] + self._margin)
            pending = [i for i in pending if found[i] is None]
            if short:
                effort *= 4
            else:
                limit = min(limit * 4, left)
        return found

    def _candidates(
        self, queries: np.ndarray, limit: int, out: np.ndarray, effort: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return FAISS's scores and rows of the nearest vectors, (queries, limit); rows of -1 where it met fewer.

        Parameters
        ----------
        effort
            How many times more of an approximate index is visited than its settings say.
        """
        wanted = min(limit + len(out), len(self))
        if effort > _WIDEST or (self._on_gpu and wanted > _MOST_ON_GPU):
            # on the CPU and block by block, since the vectors may be more than the memory holds
            scores, rows = knn_ground_truth(queries, self.vectors.blocks(), wanted, faiss.METRIC_INNER_PRODUCT, ngpu=0)
            return _without(scores, rows, out, limit)
        if self._on_gpu:
            # it takes no selector: fetch as many more as are to be dropped
            parameters = faiss.SearchParametersIVF(nprobe=self._probed(effort)) if self._type == "ivf" else None
            return _without(*self._index.search(queries, wanted, params=parameters), out, limit)
        # the names keep the bitmap alive: FAISS holds a bare pointer to it
        bitmap, selector = None, {}
        if len(out):
            kept = np.ones(len(self), dtype=bool)
            kept[out] = False
            bitmap = np.packbits(kept, bitorder="little")
            selector = {"sel": faiss.IDSelectorBitmap(bitmap)}
        match self._type:
            case "ivf":
                parameters = faiss.SearchParametersIVF(nprobe=self._probed(effort), **selector)
            case "hnsw":
                breadth = max(self._settings["search_depth"], limit) * effort
                parameters = faiss.SearchParametersHNSW(efSearch=breadth, **selector)
            case _:
                parameters = faiss.SearchParameters(**selector)
        return self._index.search(queries, limit, params=parameters)

    def _probed(self, effort: int) -> int:
        return min(self._settings["probes"] * effort, self.built["lists"])

    def _ranked(
        self, query: np.ndarray, rows: np.ndarray, least: float | None = None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return rows and scores of the ranking; None where its last score is not above ``least``: more are needed."""
        scores = np.round(self.vectors[rows].astype(np.float64) @ query.astype(np.float64), _DECIMALS)
        if least is not None and np.partition(scores, -self.depth)[-self.depth] <= least:
            return None
        # the ids of vectors that can still enter the ranking
        near = scores >= (np.partition(scores, -self.depth)[-self.depth] if len(scores) > self.depth else scores.min())
        rows, scores = rows[near], scores[near]
        best = frames.order(self.ids.take(rows), scores, self.depth)
        return rows[best], scores[best]

    def _open(self, description: Mapping[str, Any]) -> tuple[faiss.Index, PassageIds]:
        # FAISS maps inverted lists by one flag and everything else by the other
        flag = faiss.IO_FLAG_MMAP if self._type == "ivf" else faiss.IO_FLAG_MMAP_IFC
        try:
            index = faiss.read_index(str(self.folder.path / "index.faiss"), flag)
            ids = read_ids(self.folder.path / "ids.txt")
        except RuntimeError as error:
            raise self.folder.error(f"unreadable dense index ({error})") from error
        if description["vectors"] != self.vectors.digest or not index.ntotal == len(ids) == len(self.vectors):
            raise self.folder.error("dense index is of other vectors than those given")
        return index, ids


def _folder(path: str | Path) -> IndexFolder:
    return IndexFolder(path, "dense index", {"format": FORMAT, "faiss": faiss.__version__})


def _without(scores: np.ndarray, rows: np.ndarray, out: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first ``limit`` of each row of candidates that are not in ``out``, filled up with -1."""
    kept = ~np.isin(rows, out)
    # stable: those that are kept come first, in their order
    first = np.argsort(~kept, axis=1, kind="stable")[:, :limit]
    rows = np.where(kept, rows, -1)
    return np.take_along_axis(scores, first, axis=1), np.take_along_axis(rows, first, axis=1)


def _to_gpu(index: faiss.Index, kind: str, device: str) -> faiss.Index:
    """Return a copy of the index on a GPU."""
    if kind not in _ON_GPU:
        raise ConfigError("indexes.dense.*.device", f"type {kind} runs on the cpu alone; for {device} take flat or ivf")
    number = int(device.partition(":")[2] or 0)
    count = faiss.get_num_gpus()
    if not count:
        problem = f"FAISS sees no GPU for {device}; install faiss-gpu in place of faiss-cpu, or set cpu"
        raise ConfigError("indexes.dense.*.device", problem)
    if number >= count:
        raise ConfigError("indexes.dense.*.device", f"must be cpu or cuda:0 to cuda:{count - 1} (got {device})")
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), number, index)
