"""Batches of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(entries: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield successive lists of ``size`` entries, the last one shorter (itertools has it from Python 3.12 on)."""
    stream = iter(entries)
    while batch := list(islice(stream, size)):
        yield batch


def batched_by_weight(entries: Iterable[T], size: int, weigh: Callable[[T], int], weight: int) -> Iterator[list[T]]:
    """Yield successive lists that end with their ``size``-th entry, or before it with the one that reaches ``weight``.

    What is held at a time is bounded by ``weight`` and one entry, however heavy entries are.
    """
    batch: list[T] = []
    total = 0
    for entry in entries:
        batch.append(entry)
        total += weigh(entry)
        if len(batch) == size or total >= weight:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
