"""Batches of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(entries: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield successive lists of ``size`` entries, the last one shorter (itertools has it from Python 3.12 on)."""
    stream = iter(entries)
    while batch := list(islice(stream, size)):
        yield batch
