"""Passages and stand-ins of models that the retrieval tests share."""

from __future__ import annotations

import zlib

import numpy as np

from calibrag.records import Passage


def make_passage(passage_id: str, text: str, title: str = "", heading: str | None = None) -> Passage:
    return Passage(
        passage_id=passage_id,
        doc_id=passage_id.partition("#")[0],
        title=title,
        heading=heading,
        kind="text",
        ordinal=0,
        start=0,
        end=len(text),
        text=text,
    )


class HashEmbedder:
    """Unit vectors drawn from a text's checksum; counts its calls."""

    def __init__(self, dimension: int = 16):
        self.dimension = dimension
        self.calls: list[list[str]] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.calls.append(list(texts))
        rows = [np.random.default_rng(zlib.crc32(t.encode())).normal(size=self.dimension) for t in texts]
        vectors = np.array(rows).reshape(len(texts), self.dimension)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
