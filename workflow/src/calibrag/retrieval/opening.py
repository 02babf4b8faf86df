"""Opening a retriever from its settings: the indexes and models that it takes, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pyterrier as pt

from calibrag.errors import ConfigError
from calibrag.retrieval import pipeline
from calibrag.retrieval.reranking import PassageSource


def open_retriever(
    settings: Mapping[str, Any],
    folder: str | Path,
    store: PassageSource,
    models: Mapping[str, Any],
    threads: int,
) -> pt.Transformer:
    """Return the pipeline of a retriever, its indexes opened and its models loaded.

    Parameters
    ----------
    settings
        The retriever's block of the configuration, see ``pipeline.build``.
    folder
        Holds the indexes, ``sparse/`` and ``dense/``; only what the settings name is opened.
    store
        The passages, for the reranker.
    models
        The block ``models`` of the configuration; ``device``, ``embedder`` and ``reranker`` are read.
    threads
        Threads of every stage.
    """
    lexical = dense = reranker = None
    # each stage brings a heavy library, which a retriever without it must not need
    if settings["lexical"] is not None:
        from calibrag.retrieval.sparse import SparseRetriever

        lexical = SparseRetriever(Path(folder) / "sparse", **settings["lexical"])
    if settings["dense"] is not None:
        from calibrag.retrieval.dense import DenseRetriever

        embedder = open_embedder(models["embedder"], "queries", models["device"], threads)
        dense = DenseRetriever(Path(folder) / "dense", embedder, settings["dense"]["depth"], threads=threads)
    if settings["rerank"] is not None:
        from calibrag.models.cross_encoder import CrossEncoder
        from calibrag.retrieval.reranking import CrossEncoderReranker

        cross_encoder = CrossEncoder(**models["reranker"], device=models["device"], threads=threads)
        if len(cross_encoder.labels) != 1:
            raise ConfigError("models.reranker", f"must have one output, relevance (got {cross_encoder.labels})")
        reranker = CrossEncoderReranker(cross_encoder, store, settings["rerank"]["depth"])
    return pipeline.build(settings, lexical, dense, reranker)


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
