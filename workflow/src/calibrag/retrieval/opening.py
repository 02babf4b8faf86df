"""Opening a retriever from its settings: the indexes and models that it takes, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyterrier as pt

from calibrag.corpus.store import PassageStore
from calibrag.errors import ConfigError, InputError
from calibrag.retrieval import pipeline
from calibrag.retrieval.graph import GraphRetriever
from calibrag.retrieval.passage_ids import PassageIds, digest


class IndexFiles(NamedTuple):
    """The files of the indexes that a retriever searches; an empty list where it searches none."""

    sparse: Sequence[str]
    dense: Sequence[str]
    vectors: Sequence[str]
    graph: Sequence[str]

    @classmethod
    def of(cls, inputs) -> IndexFiles:
        """Return those among a job's inputs."""
        return cls(*([files] if isinstance(files, str) else list(files) for files in map(inputs.get, cls._fields)))


def open_retriever(
    settings: Mapping[str, Any], files: IndexFiles, store: PassageStore, models: Mapping[str, Any], threads: int
) -> pt.Transformer:
    """Return the pipeline of a retriever, its indexes opened and its models loaded.

    Parameters
    ----------
    settings
        The retriever's block of the configuration, see ``pipeline.build``.
    store
        The passages that the indexes were built from.
    models
        Of the block ``models`` of the configuration: ``device``, and ``embedder`` and ``reranker`` where the
        retriever uses them.
    threads
        Threads of every stage.

    Raises
    ------
    InputError
        An index is not whole, or of another version, or was built from other passages.
    """
    lexical = dense = graph = reranker = None
    # each stage brings a heavy library, which a retriever without it must not need
    if settings["lexical"] is not None:
        lexical = open_lexical(settings["lexical"], files.sparse[0])
        check_corpus(files.sparse[0], lexical.ids, store)
    if settings["dense"] is not None:
        from calibrag.retrieval.dense import DenseRetriever
        from calibrag.retrieval.vectors import Vectors

        embedder = open_embedder(models["embedder"], "queries", models["device"], threads)
        folder, depth = Path(files.dense[0]).parent, settings["dense"]["depth"]
        on = dict(threads=threads, device=models["device"])
        dense = DenseRetriever(folder, Vectors(files.vectors), embedder, depth, **on)
        check_corpus(folder, dense.ids, store)
    if settings["graph"] is not None:
        graph = open_graph(files.graph[0], store, settings["graph"]["depth"])
    if settings["rerank"] is not None:
        from calibrag.models.cross_encoder import CrossEncoder
        from calibrag.retrieval.reranking import CrossEncoderReranker

        cross_encoder = CrossEncoder(**models["reranker"], device=models["device"], threads=threads)
        if len(cross_encoder.labels) != 1:
            raise ConfigError("models.reranker", f"must have one output, relevance (got {cross_encoder.labels})")
        reranker = CrossEncoderReranker(cross_encoder, store, **settings["rerank"])
    return pipeline.build(settings, lexical, dense, reranker, graph)


@cache
def open_graph(nodes: str, store: PassageStore, depth: int) -> GraphRetriever:
    """Return the graph in the folder of its nodes' file; opened once, for search and for its report."""
    return GraphRetriever.open(Path(nodes).parent, store.ids, depth)


def open_lexical(settings: Mapping[str, Any], path: str | Path):
    """Return the first stage that searches words, by its engine."""
    if settings["engine"] == "terrier":
        from calibrag.retrieval.terrier import TerrierRetriever

        return TerrierRetriever(path, settings["boosts"], settings["depth"])
    from calibrag.retrieval.sparse import SparseRetriever

    return SparseRetriever(path, settings["boosts"], settings["depth"])


def open_embedder(settings: Mapping[str, Any], side: Literal["passages", "queries"], device: str, threads: int):
    """Return the embedder of one side of the search; the two may differ in their number format alone."""
    from calibrag.models.embedder import SentenceEmbedder

    return SentenceEmbedder(
        settings["model"],
        sha256=settings["sha256"],
        dtype=settings["dtype" if side == "passages" else "query_dtype"],
        device=device,
        threads=threads,
        batch_size=settings["batch_size"],
        max_seq_length=settings["max_seq_length"],
    )


def check_corpus(path: str | Path, ids: PassageIds, store: PassageStore) -> None:
    """Raise InputError unless the index at ``path`` holds the passages of the store, in their order."""
    if len(ids) != len(store) or digest(ids) != digest(store.ids):
        problem = f"was built from other passages ({len(ids)}; the corpus has {len(store)})"
        raise InputError(path, f"the index {problem}; remove the folder and run the workflow again")
