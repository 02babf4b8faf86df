"""The vectors of passages: written block by block, taken up again after a kill, read from disk where needed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from calibrag.errors import CalibragError, InputError
from calibrag.records import Annotation, Passage

_BLOCK = 512  # passages embedded before they are on disk for good: some seconds of work, all that a kill costs
_SAMPLE = 64  # vectors that a digest looks at
_READ = 4096  # vectors in memory at once while an index takes them in


class Embedder(Protocol):
    """What turns texts into unit vectors: `calibrag.models.embedder.SentenceEmbedder`, or a test's own."""

    dimension: int

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
    passages: Iterable[tuple[Passage, Sequence[Annotation]]],
    count: int,
    embedder: Embedder,
    *,
    names: int,
    origins: Sequence[str],
    path: str | Path,
    key: str,
) -> int:
    """Write the vectors of ``count`` passages to the file ``path``; return how many of them a killed call had left.

    The .npy file, an array (count, dimension) of float32, appears only when it is whole.

    Parameters
    ----------
    passages
        Each with its annotations, as ``named.with_names`` yields them.
    names, origins
        How many names stand before the text, and of which origins.
    key
        Stands for inputs, model and settings: what a killed call left is taken up only under the same key.

    Raises
    ------
    CalibragError
        The disk has no room for the file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, progress = (path.with_name(f".{path.name}.{suffix}") for suffix in ("partial", "progress"))
    done = _done(partial, progress, key)
    if done:
        vectors = np.lib.format.open_memmap(partial, "r+")
    else:
        vectors = _allocated(partial, count, embedder.dimension)
    at = done
    remaining = islice(passages, done, None)
    while block := list(islice(remaining, _BLOCK)):
        if at + len(block) > count:
            raise ValueError(f"count must be the number of passages (got {count} for more)")
        texts = [
            embedding_text(passage, [a.name for a in annotations if a.origin in origins], names)
            for passage, annotations in block
        ]
        vectors[at : at + len(block)] = embedder.encode(texts)
        vectors.flush()
        at += len(block)
        # only now: the vectors that it counts are on disk
        _replace(progress, json.dumps({"key": key, "done": at}))
    if at != count:
        raise ValueError(f"count must be the number of passages (got {count} for {at})")
    partial.replace(path)
    progress.unlink(missing_ok=True)
    return done


def _done(partial: Path, progress: Path, key: str) -> int:
    """Return how many vectors a killed call left under this key."""
    try:
        state = json.loads(progress.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
    return state["done"] if state["key"] == key and partial.exists() else 0


def _replace(path: Path, text: str) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def _allocated(path: Path, count: int, dimension: int) -> np.ndarray:
    """Return a new array on disk whose room is taken: a page of it for which there is none would kill the process."""
    path.unlink(missing_ok=True)
    try:
        array = np.lib.format.open_memmap(path, "w+", np.float32, (count, dimension))
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    except OSError as error:
        path.unlink(missing_ok=True)
        size = f"{count * dimension * 4 / 1e6:,.0f} MB"
        raise CalibragError(f"{path.parent}: {size} of vectors do not fit ({error}); make room on this disk") from error
    return array


class Vectors:
    """The vectors of a corpus, its shards in order; ``vectors[rows]`` reads those rows.

    Parameters
    ----------
    shards
        Arrays (passages, dimension), in memory or memory-mapped.
    """

    def __init__(self, shards: Sequence[np.ndarray]):
        self._shards = list(shards)
        self.dimension = int(self._shards[0].shape[1])
        self._starts = np.cumsum([0, *map(len, self._shards)])

    @classmethod
    def open(cls, paths: Sequence[str | Path]) -> Vectors:
        """Return the vectors of .npy files, memory-mapped.

        Raises
        ------
        InputError
            A file is no array of vectors, or of another dimension than the first.
        """
        shards = [_mapped(path) for path in paths]
        for path, shard in zip(paths, shards, strict=True):
            if shard.shape[1] != shards[0].shape[1]:
                problem = f"vectors must have {shards[0].shape[1]} dimensions, as in {paths[0]} (got {shard.shape[1]})"
                raise InputError(path, f"{problem}; remove it and run the workflow again")
        return cls(shards)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """Return an array (n, dimension) of float32: the vectors of ``rows``, in the order given."""
        out = np.empty((len(rows), self.dimension), dtype=np.float32)
        for shard, start, end in zip(self._shards, self._starts, self._starts[1:], strict=False):
            inside = (rows >= start) & (rows < end)
            out[inside] = shard[rows[inside] - start]
        return out

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield all vectors in order, some thousands at a time."""
        for shard in self._shards:
            for start in range(0, len(shard), _READ):
                yield np.ascontiguousarray(shard[start : start + _READ], dtype=np.float32)

    @property
    def digest(self) -> str:
        """16 hex digits over some of the vectors: an index keeps those of the vectors that it was built from."""
        rows = np.unique(np.linspace(0, len(self) - 1, _SAMPLE).astype(np.int64)) if len(self) else np.zeros(0, int)
        return hashlib.sha256(f"{len(self)} {self.dimension}".encode() + self[rows].tobytes()).hexdigest()[:16]


def _mapped(path: str | Path) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r")
        if array.ndim != 2 or array.dtype != np.float32:
            raise ValueError(f"found {array.ndim} dimensions of {array.dtype}")
    except (OSError, ValueError, EOFError) as error:
        raise InputError(path, f"no array of vectors ({error}); remove it and run the workflow again") from error
    return array
