"""Seeded bootstrap over questions: resamples, replicates of any statistic, percentile intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Statistic = Callable[..., NDArray]
"""Takes arrays of shape (..., n) and returns shape (...), as `mean` does."""

_BLOCK = 2_000_000
"""Numbers gathered at once; bounds memory at some tens of MB however many questions there are."""


def mean(values: NDArray) -> NDArray:
    """Return means over questions, the statistic of every measure that is one."""
    return values.mean(axis=-1)


class Interval(NamedTuple):
    """A value on all questions, and the percentile interval of its replicates."""

    value: float
    low: float
    high: float


def resamples(n: int, B: int, seed: int) -> NDArray[np.int32]:
    """Return B resamples of n questions, drawn with replacement: row numbers of shape (B, n).

    The same (n, B, seed) gives the same rows, so runs over the same questions share their resamples.
    """
    if n < 1 or B < 1:
        raise ValueError(f"n and B must be at least 1 (got n = {n}, B = {B})")
    return np.random.default_rng(seed).integers(0, n, size=(B, n), dtype=np.int32)


def replicates(statistic: Statistic, index: NDArray, *columns: ArrayLike) -> NDArray:
    """Return the statistic on each resample, shape (B,).

    Parameters
    ----------
    statistic
        Called with one (b, n) array a column.
    index
        Resamples, shape (B, n), from `resamples`.
    *columns
        One value a question, each of shape (n,).
    """
    arrays = [np.asarray(column) for column in columns]
    for array in arrays:
        if array.shape != index.shape[1:]:
            raise ValueError(f"each column must hold n = {index.shape[1]} questions (got shape {array.shape})")
    step = max(1, _BLOCK // index.shape[1])
    blocks = [index[start : start + step] for start in range(0, len(index), step)]
    return np.concatenate([statistic(*(array[block] for array in arrays)) for block in blocks])


def multiplicities(index: NDArray) -> Iterator[NDArray[np.int64]]:
    """Yield how often each question stands in each resample, shape (b, n), for b resamples at a time.

    What is a sum over questions is then a product of matrices.
    """
    n = index.shape[1]
    step = max(1, _BLOCK // n)
    for start in range(0, len(index), step):
        block = index[start : start + step]
        places = block + np.arange(len(block))[:, None] * n
        yield np.bincount(places.ravel(), minlength=block.size).reshape(block.shape)


def interval(values: ArrayLike, level: float) -> tuple[float, float]:
    """Return the central percentile interval of the replicates that holds a share `level` of them.

    Raises
    ------
    ValueError
        The level is not inside (0, 1), or a replicate is NaN: a hole must not pass for a number.
    """
    replicated = np.asarray(values, dtype=float)
    if not 0 < level < 1:
        raise ValueError(f"level must lie inside (0, 1) (got {level})")
    if np.isnan(replicated).any():
        raise ValueError(f"{int(np.isnan(replicated).sum())} of {replicated.size} replicates are NaN")
    low, high = np.quantile(replicated, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def interval_where_defined(values: ArrayLike, level: float) -> tuple[float | None, float | None, float]:
    """Return the interval over the replicates that are defined, and the share of those that are not (NaN).

    Both ends are None where none is defined.
    """
    replicated = np.asarray(values, dtype=float)
    undefined = np.isnan(replicated)
    ends = (None, None) if undefined.all() else interval(replicated[~undefined], level)
    return (*ends, float(undefined.mean()))


def estimate(statistic: Statistic, index: NDArray, level: float, *columns: ArrayLike) -> Interval:
    """Return the statistic on all questions with its percentile interval."""
    value = statistic(*(np.asarray(column) for column in columns))
    return Interval(float(value), *interval(replicates(statistic, index, *columns), level))


def paired_difference(
    statistic: Statistic,
    index: NDArray,
    level: float,
    first: tuple[ArrayLike, ...],
    second: tuple[ArrayLike, ...],
) -> Interval:
    """Return the statistic of the first run less that of the second, resampling the questions of both together.

    Parameters
    ----------
    first, second
        The columns of each run, of shape (n,) and in the same order of questions.
    """
    value = statistic(*map(np.asarray, first)) - statistic(*map(np.asarray, second))
    difference = replicates(statistic, index, *first) - replicates(statistic, index, *second)
    return Interval(float(value), *interval(difference, level))
