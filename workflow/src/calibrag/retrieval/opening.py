"""Opening a retriever from its settings: the indexes and models that it takes, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyterrier as pt

from calibrag.corpus.passage_ids import digest
from calibrag.corpus.store import PassageStore
from calibrag.errors import ConfigError
from calibrag.retrieval import pipeline
from calibrag.retrieval.graph import GraphRetriever


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
        The retriever's block of the resolved configuration, see ``pipeline.build``.
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
    if settings["dense"] is not None:
        index, depth = settings["dense"]["index"], settings["dense"]["depth"]
        dense = open_dense(index, depth, files.dense, files.vectors, models, threads)
    check_corpus([index for index in (lexical, dense) if index is not None], store)
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


def open_dense(
    index: Mapping[str, Any],
    depth: int,
    files: Sequence[str | Path],
    vectors: Sequence[str | Path],
    models: Mapping[str, Any],
    threads: int,
):
    """Return the first stage that searches vectors, by a block of ``indexes.dense`` of the resolved configuration.

    Raises
    ------
    InputError
        The index is not whole, of another version, or was built from other vectors or by other settings.
    """
    from calibrag.retrieval.dense import DenseRetriever
    from calibrag.retrieval.vectors import Vectors

    embedder = open_embedder(models["embedder"], "queries", models["device"], threads)
    retriever = DenseRetriever(
        Path(files[0]).parent, Vectors.open(vectors), embedder, depth, index["search"], threads=threads
    )
    if retriever.built != index["build"]:
        raise retriever.folder.error(f"dense index must be built with {index['build']} (got {retriever.built})")
    return retriever


def open_embedder(settings: Mapping[str, Any], side: Literal["passages", "queries"], device: str, threads: int):
    """Return the embedder of one side of the search.

    Queries have their own number format and are embedded one by one (20 ms each in place of 9, on a CPU): else a vector
    would differ in its last bits with the questions that happen to be asked together, and with it, now and then, a
    ranking.
    """
    from calibrag.models.embedder import SentenceEmbedder

    return SentenceEmbedder(
        settings["model"],
        sha256=settings["sha256"],
        dtype=settings["dtype" if side == "passages" else "query_dtype"],
        device=device,
        threads=threads,
        batch_size=settings["batch_size"] if side == "passages" else 1,
        max_seq_length=settings["max_seq_length"],
    )


def check_corpus(indexes: Sequence, store: PassageStore) -> None:
    """Raise InputError unless the opened indexes hold the passages of the store, in their order."""
    corpus = digest(store.ids) if indexes else None
    for index in indexes:
        if index.corpus != corpus:
            problem = f"was built from other passages ({len(index)}; the corpus has {len(store)})"
            raise index.folder.error(f"the {index.folder.kind} {problem}")
