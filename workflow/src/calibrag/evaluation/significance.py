"""Whether runs over the same questions differ by more than chance: randomised Tukey HSD, paired tests, effect sizes.

Scores are an array of questions x runs. All tests exchange scores within a question, so they assume no distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.evaluation import bootstrap

_BLOCK = 2_000_000
"""Numbers drawn at once; bounds memory at some tens of MB."""

EPSILON = 1e-12
"""Differences below are none: the same scores added in another order."""

COLUMNS = (
    "first", "second", "n", "difference", "difference_low", "difference_high", "p_tukey", "p_paired",
    "won", "lost", "tied", "effect_size", "d_z",
)  # fmt: skip


def compare_runs(
    scores: NDArray,
    names: Sequence[str],
    trials: int,
    seed: int,
    index: NDArray,
    level: float,
) -> pd.DataFrame:
    """Return one row a pair of runs, the columns ``COLUMNS``.

    ``difference`` is the mean of the first less that of the second, with its paired bootstrap interval; ``won`` counts
    the questions on which the first scores higher; p values, ``effect_size`` and ``d_z`` are those of the functions
    below, NaN where they are not defined.

    Parameters
    ----------
    scores
        Shape (questions, runs), at least one of each.
    trials, seed
        Of both tests.
    index, level
        Resamples of the questions, from `bootstrap.resamples`, and the share that an interval holds.

    Raises
    ------
    ValueError
        A score is NaN: a hole must not pass for a tie.
    """
    scores = np.asarray(scores, float)
    if np.isnan(scores).any():
        raise ValueError(f"{int(np.isnan(scores).sum())} of {scores.size} scores are NaN")
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return pd.DataFrame(columns=list(COLUMNS))
    tukey = tukey_hsd(scores, trials, seed)
    differences = np.stack([scores[:, i] - scores[:, j] for i, j in pairs], axis=1)
    differences[np.abs(differences) < EPSILON] = 0
    paired = paired_randomisation(differences, trials, seed)
    residual = residual_deviation(scores)
    means = [bootstrap.replicates(bootstrap.mean, index, column) for column in scores.T]
    rows = []
    for place, (i, j) in enumerate(pairs):
        difference = differences[:, place]
        low, high = bootstrap.interval(means[i] - means[j], level)
        mean, spread = float(difference.mean()), float(difference.std(ddof=1)) if len(difference) > 1 else 0.0
        rows.append(
            (
                names[i], names[j], len(difference), mean, low, high, tukey[i, j], paired[place],
                int((difference > 0).sum()), int((difference < 0).sum()), int((difference == 0).sum()),
                _ratio(mean, residual), _ratio(mean, spread),
            )
        )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"effect_size": float, "d_z": float})


def tukey_hsd(scores: NDArray, trials: int, seed: int) -> NDArray:
    """Return the p values of all pairs of runs by randomised Tukey HSD, shape (runs, runs), 1 on the diagonal.

    Under the null hypothesis that all runs are one, the scores of a question may be exchanged between them. p is the
    share of such exchanges whose largest difference between two means is at least the pair's own: it holds for all
    pairs at once (Carterette, TOIS 2012; Sakai). p = 0 means less than 1 / trials.
    """
    means = scores.mean(axis=0)
    observed = np.abs(means[:, None] - means[None, :])
    generator = np.random.default_rng(seed)
    largest = np.empty(trials)
    for block in blocks(trials, scores.size):
        exchanged = np.repeat(scores[None], len(block), axis=0)
        generator.permuted(exchanged, axis=2, out=exchanged)
        largest[block] = np.ptp(exchanged.mean(axis=1), axis=1)
    largest.sort()
    return (trials - np.searchsorted(largest, observed - EPSILON)) / trials


def paired_randomisation(differences: NDArray, trials: int, seed: int) -> NDArray:
    """Return the two-sided p values of the paired randomisation test, one a column of (questions, pairs).

    p is the share of random changes of the differences' signs whose mean is at least as far from 0. No correction for
    the number of pairs. p = 0 means less than 1 / trials.
    """
    observed = np.abs(differences.mean(axis=0))
    generator = np.random.default_rng(seed)
    count = np.zeros(differences.shape[1], int)
    for block in blocks(trials, len(differences)):
        signs = 2.0 * generator.integers(0, 2, size=(len(block), len(differences)), dtype=np.int8) - 1
        count += (np.abs(signs @ differences) / len(differences) >= observed - EPSILON).sum(axis=0)
    return count / trials


def residual_deviation(scores: NDArray) -> float:
    """Return the square root of the residual variance of a two-way ANOVA without replication (questions, runs).

    A difference divided by it is Sakai's effect size ES_E2. 0 where there is a single question or run.
    """
    questions, runs = scores.shape
    if questions < 2 or runs < 2:
        return 0.0
    residual = scores - scores.mean(axis=1, keepdims=True) - scores.mean(axis=0) + scores.mean()
    return float(np.sqrt((residual**2).sum() / ((questions - 1) * (runs - 1))))


def _ratio(difference: float, spread: float) -> float | None:
    return difference / spread if spread > EPSILON else None


def blocks(trials: int, size: int) -> Iterator[range]:
    """Yield the trials in ranges, as many in each as may be in memory at once."""
    step = max(1, _BLOCK // max(1, size))
    return (range(start, min(start + step, trials)) for start in range(0, trials, step))
