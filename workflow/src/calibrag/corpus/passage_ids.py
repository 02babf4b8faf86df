"""The passage ids of an index, row by row: two million of them in tens of megabytes, found in microseconds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from calibrag.errors import InputError

_CHUNK = 100_000  # ids that are Python objects at a time


class PassageIds:
    """Ids by row and rows by id; the rows are found through sorted 64-bit hashes, which are made when first needed."""

    def __init__(self, ids: pa.Array):
        self._ids = ids
        self._hashes: np.ndarray | None = None
        self._order: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, row: int) -> str:
        return self._ids[row].as_py()

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _CHUNK):
            yield from self._ids[start : start + _CHUNK].to_pylist()

    def take(self, rows: np.ndarray) -> list[str]:
        """Return the ids of some rows, in the order given."""
        return self._ids.take(pa.array(rows, pa.int64())).to_pylist()

    def rows(self, ids: Iterable[str]) -> np.ndarray:
        """Return the rows of those of some ids that are here, rising (int64)."""
        wanted = sorted(set(ids))
        if not wanted:
            return np.zeros(0, dtype=np.int64)
        self._prepare()
        hashes = _hashes(wanted)
        first = np.searchsorted(self._hashes, hashes, "left")
        last = np.searchsorted(self._hashes, hashes, "right")
        counts = last - first
        # the places of all that have one of the hashes, those of one hash side by side
        places = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows = self._order[places].astype(np.int64)
        # two ids may share a hash: what decides is the id itself
        same = [
            found == wanted[i]
            for found, i in zip(self.take(rows), np.repeat(np.arange(len(wanted)), counts), strict=True)
        ]
        return np.sort(rows[np.array(same, dtype=bool)])

    def are_distinct(self) -> bool:
        """Return whether no id comes twice."""
        self._prepare()
        same = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
        return all(self[int(self._order[i])] != self[int(self._order[i + 1])] for i in same)

    def _prepare(self) -> None:
        if self._hashes is None:
            starts = range(0, len(self), _CHUNK)
            hashes = [_hashes(self._ids[start : start + _CHUNK].to_pylist()) for start in starts]
            hashes = np.concatenate(hashes) if hashes else _hashes([])
            self._order = np.argsort(hashes, kind="stable").astype(np.int32)
            self._hashes = hashes[self._order]


def digest(ids: Iterable[str]) -> str:
    """Return 16 hex digits over ids in their order; an index keeps those of the corpus that it was built from."""
    total = hashlib.sha256()
    for passage_id in ids:
        total.update(passage_id.encode() + b"\n")
    return total.hexdigest()[:16]


def write_ids(path: str | Path, ids: Iterable[str]) -> None:
    """Write ids, one a line."""
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{passage_id}\n" for passage_id in ids)


def read_ids(path: str | Path) -> PassageIds:
    """Return the ids of a file that `write_ids` wrote.

    Raises
    ------
    InputError
        The file is no such text.
    """
    chunks: list[pa.Array] = []
    try:
        with open(path, encoding="utf-8", newline="\n") as lines:
            while chunk := [line.rstrip("\n") for _, line in zip(range(_CHUNK), lines, strict=False)]:
                chunks.append(pa.array(chunk, pa.string()))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"unreadable ids ({error})") from error
    return PassageIds(pa.concat_arrays(chunks) if chunks else pa.array([], pa.string()))


def _hashes(ids: Sequence[str]) -> np.ndarray:
    return pd.util.hash_array(np.array(ids, dtype=object), categorize=False)
