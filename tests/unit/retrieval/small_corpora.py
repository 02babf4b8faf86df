"""Passages and stand-ins of models that the retrieval tests share."""

from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa

from calibrag.corpus.passage_ids import PassageIds
from calibrag.records import Annotation, Passage
from calibrag.retrieval import dense
from calibrag.retrieval.vectors import Vectors


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


def named(passages, names=None, origin="passage"):
    """Yield each passage with its annotations, all of one origin; ``names`` maps passage ids to names."""
    for passage in passages:
        pid = passage.passage_id
        yield passage, [Annotation(passage_id=pid, name=name, origin=origin) for name in (names or {}).get(pid, ())]


def ids_of(ids):
    """Return ids as an index holds them."""
    return PassageIds(pa.array(list(ids), pa.string()))


def build_dense(vectors, ids, path, **settings):
    """Write a dense index over vectors into a folder, and return what opens it: (folder, vectors)."""
    stored = Vectors([vectors])
    dense.build(stored, ids_of(ids), path, {"type": "flat", **settings}, threads=1)
    return path, stored


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
