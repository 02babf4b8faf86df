"""What figures of calibration draw: reliability bins and the risk-coverage curve, of one run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibrag.evaluation.calibration import Binning, Tally, by_bin
from calibrag.evaluation.confidence import ratio


def reliability_bins(answers: Tally, bins: int, binning: Binning) -> pd.DataFrame:
    """Return one row a bin, lowest confidence first: bin, n, confidence (its mean), accuracy; both NaN where n is 0.

    Parameters
    ----------
    answers
        Of one run, with counts of shape (d,).
    bins, binning
        As `ece`, which is the mean of |accuracy - confidence| weighted by n.
    """
    parts = [answers.size, answers.size * answers.level, answers.right]
    n, stated, right = (by_bin(np.asarray(part, float), answers, bins, binning) for part in parts)
    columns = {"bin": np.arange(1, bins + 1), "n": n.astype(int)}
    return pd.DataFrame(columns | {"confidence": ratio(stated, n), "accuracy": ratio(right, n)})


def risk_coverage(answers: Tally) -> pd.DataFrame:
    """Return the risk-coverage curve: one row for k = 1 .. n kept answers: k, coverage, confidence, risk.

    ``coverage`` is k / n, ``confidence`` that of the last answer kept, ``risk`` the share of wrong answers among those
    kept, in expectation over the orders of ties; its mean is `aurc`.

    Parameters
    ----------
    answers
        Of one run, with counts of shape (d,).
    """
    size, share = answers.size[::-1], (answers.wrong / np.maximum(answers.size, 1))[::-1]
    kept = np.arange(1, size.sum() + 1)
    risk = np.cumsum(np.repeat(share, size)) / kept
    stated = np.repeat(answers.level[::-1], size)
    return pd.DataFrame({"k": kept, "coverage": kept / max(len(kept), 1), "confidence": stated, "risk": risk})
