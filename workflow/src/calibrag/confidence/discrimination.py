"""How well a signal tells right answers from wrong ones: the area under the ROC curve, with a bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, mannwhitneyu

from calibrag.confidence.extraction import COLUMNS
from calibrag.confidence.signals import signal_named
from calibrag.evaluation import bootstrap
from calibrag.evaluation.calibration import auroc, tally, weighted_tally

PUBLISHED = {"longest_reasoning": 0.707, "distinct_queries": 0.559, "tool_calls": 0.586}
"""AUROCs of the paper, on 6 x 58 pairs: the wrong and right answers of a first pass; as printed."""

SCORES = [
    "signal", "measures", "where", "unit", "surer", "n", "n_missing", "n_right", "n_values", "auroc", "auroc_low",
    "auroc_high", "n_undefined", "p", "p_adjusted", "published",
]  # fmt: skip
"""Columns of the scores of signals."""


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
    drawn = lru_cache(maxsize=2)(lambda n: _drawn(bootstrap.resamples(n, B, seed)))
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


def _scored(
    values: NDArray, right: NDArray, level: float, drawn: Callable[[int], list[NDArray]]
) -> dict[str, float | int]:
    n, n_right = len(values), int(right.sum())
    counted = {"n": n, "n_right": n_right, "n_values": len(np.unique(values))}
    if n_right in (0, n):
        unknown = dict.fromkeys(("auroc", "auroc_low", "auroc_high", "p"), np.nan)
        return counted | unknown | {"n_undefined": 0}
    everywhere = np.ones(n, bool)
    tallies = (weighted_tally(values, right, everywhere, counts) for counts in drawn(n))
    replicates = np.concatenate([auroc(each) for each in tallies])
    low, high, undefined = bootstrap.interval_where_defined(replicates, level)
    varies = counted["n_values"] > 1
    return counted | {
        "auroc": float(auroc(tally(values, right))),
        "auroc_low": low,
        "auroc_high": high,
        "n_undefined": round(undefined * len(replicates)),
        "p": float(mannwhitneyu(values[right], values[~right]).pvalue) if varies else np.nan,
    }


def _drawn(index: NDArray) -> list[NDArray]:
    """Return how often each question is in each resample, in blocks, small enough to keep for the next signal."""
    smallest = np.min_scalar_type(index.shape[1])
    return [counts.astype(smallest) for counts in bootstrap.multiplicities(index)]
