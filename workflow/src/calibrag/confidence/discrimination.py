"""How well a signal tells right answers from wrong ones: the area under the ROC curve, with a bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control, mannwhitneyu

from calibrag.confidence.extraction import COLUMNS
from calibrag.confidence.signals import signal_named
from calibrag.evaluation import bootstrap

PUBLISHED = {"longest_reasoning": 0.707, "distinct_queries": 0.559, "tool_calls": 0.586}
"""AUROCs of the paper, on 6 x 58 pairs: the wrong and right answers of a first pass; as printed."""

SCORES = [
    "signal", "measures", "where", "unit", "surer", "n", "n_missing", "n_right", "n_values", "auroc", "auroc_low",
    "auroc_high", "n_undefined", "p", "p_adjusted", "published",
]  # fmt: skip
"""Columns of the scores of signals."""

_BLOCK = 4_000_000
"""Numbers handled at once; bounds memory at some tens of MB."""


def auroc(values: ArrayLike, right: ArrayLike, counts: ArrayLike) -> NDArray[np.float64]:
    """Return the share of pairs of a right and a wrong answer in which the right one has more of it, ties a half.

    Ranks once for all resamples: with 10,000 of 1,000 questions it takes a fraction of a second.

    Parameters
    ----------
    values, right
        One a question, shape (n,); values without NaN.
    counts
        How often each question is in each resample, shape (B, n).

    Returns
    -------
    Array of shape (B,), NaN where a resample lacks right or wrong answers.
    """
    values, right, counts = np.asarray(values, float), np.asarray(right, bool), np.asarray(counts)
    if np.isnan(values).any():
        raise ValueError(f"values must not be NaN (got {int(np.isnan(values).sum())} of {values.size})")
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # where each group of tied values starts
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    weights = counts[:, order].astype(float)
    good = np.add.reduceat(weights * right[order], starts, axis=1)
    bad = np.add.reduceat(weights * ~right[order], starts, axis=1)
    below = np.cumsum(bad, axis=1) - bad / 2
    pairs = good.sum(axis=1) * bad.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(pairs > 0, (good * below).sum(axis=1) / pairs, np.nan)


def score_signals(signals: pd.DataFrame, B: int, level: float, seed: int) -> pd.DataFrame:
    """Return one row a signal, the columns `SCORES`.

    The direction is as found: below .5, more of the signal goes with wrong answers. All rests on the ``n`` answers that
    have the signal, ``n_values`` different values of it. ``auroc`` is NaN where they hold no right or no wrong answer.
    The interval is that of the resamples with both, which ``n_undefined`` are not. ``p`` is that of the Mann-Whitney
    test, two-sided and with ties; it means more than the interval where right or wrong answers are few, for a single
    one is the same in every resample. ``p_adjusted``: for all signals of the table (Benjamini and Hochberg 1995). Both
    are NaN where the signal does not vary. ``published``: of the paper.

    Parameters
    ----------
    signals
        As `extraction.extract_signals` makes it.
    B, level, seed
        Of the bootstrap over questions.
    """
    right = signals["right"].to_numpy(bool)
    # signals that miss as many questions share their resamples
    drawn = lru_cache(maxsize=2)(lambda n: _counts(bootstrap.resamples(n, B, seed)))
    rows = []
    for name in signals.columns.drop(COLUMNS):
        values = signals[name].to_numpy(float)
        known = ~np.isnan(values)
        rows.append(_described(name) | _scored(values[known], right[known], level, drawn))
        rows[-1]["n_missing"] = int((~known).sum())
    scores = pd.DataFrame(rows, columns=SCORES)
    tested = scores["p"].notna()
    scores.loc[tested, "p_adjusted"] = false_discovery_control(scores.loc[tested, "p"].to_numpy(float))
    return scores


def _described(name: str) -> dict[str, Any]:
    signal = signal_named(name)
    return {
        "signal": name,
        "measures": signal.measures,
        "where": signal.where,
        "unit": signal.unit,
        "surer": signal.surer,
        "p_adjusted": np.nan,
        "published": PUBLISHED[name] if name in PUBLISHED else np.nan,
    }


def _scored(values: NDArray, right: NDArray, level: float, drawn: Callable[[int], NDArray]) -> dict[str, float | int]:
    n, n_right = len(values), int(right.sum())
    counted = {"n": n, "n_right": n_right, "n_values": len(np.unique(values))}
    if n_right in (0, n):
        unknown = dict.fromkeys(("auroc", "auroc_low", "auroc_high", "p"), np.nan)
        return counted | unknown | {"n_undefined": 0}
    counts = drawn(n)
    step = max(1, _BLOCK // n)
    blocks = [counts[start : start + step] for start in range(0, len(counts), step)]
    replicates = np.concatenate([auroc(values, right, block) for block in blocks])
    defined = replicates[~np.isnan(replicates)]
    low, high = bootstrap.interval(defined, level) if len(defined) else (np.nan, np.nan)
    varies = counted["n_values"] > 1
    return counted | {
        "auroc": float(auroc(values, right, np.ones((1, n)))[0]),
        "auroc_low": low,
        "auroc_high": high,
        "n_undefined": len(replicates) - len(defined),
        "p": float(mannwhitneyu(values[right], values[~right]).pvalue) if varies else np.nan,
    }


def _counts(index: NDArray) -> NDArray[np.int16]:
    """Return how often each question is in each resample, shape (B, n), of row numbers of that shape."""
    counts = np.zeros(index.shape, np.int16)
    step = max(1, _BLOCK // index.shape[1])
    for start in range(0, len(index), step):
        block = index[start : start + step]
        flat = block + np.arange(len(block))[:, None] * block.shape[1]
        counts[start : start + step] = np.bincount(flat.ravel(), minlength=flat.size).reshape(block.shape)
    return counts
