"""Confidence filed with answers, against which answers were right: R_O, R_U, HMR, accHMR, OB (R2C2).

With c in [0, 1] the filed confidences, I+ the right and I- the wrong answers::

    R_O = 1 - mean(c over I-)    1 if no answer is wrong     (not overconfident)
    R_U = mean(c over I+)        1 if no answer is right     (not underconfident)
    HMR = 2 R_O R_U / (R_O + R_U), 0 if both are 0           accHMR = accuracy x HMR
    OB  = mean(c) - accuracy                                 (overconfidence bias; 0 is best)

All follow from five sums over the questions, `Totals`. What takes part in a sum is a row of `summands`, so that
resamples and exchanges of questions are products of matrices and no arrays of questions.

Of arrays of shape (..., n) see `answer_measures.parse_measure`. All but OB lie in [0, 1], higher = better.

A refusal to an answerable question is an answer that is not right: it enters I- with the confidence filed with
it, so a refusal at 0 costs accuracy and leaves R_O unharmed. A question that the run lacks has no confidence.
`filed` marks the others: under the policy ``missing: wrong`` it counts in n, as not right, and stays out of
R_O, R_U and mean(c), since any number put in its place would reward or punish a confidence nobody stated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Totals(NamedTuple):
    """Sums over the questions of a run, each of shape (...)."""

    n: NDArray
    """Questions that count."""
    right: NDArray
    """Of them in I+."""
    wrong: NDArray
    """Of them in I-; less than n - right where questions are missing."""
    stated_right: NDArray
    """Confidence summed over I+."""
    stated_wrong: NDArray
    """Confidence summed over I-."""

    @classmethod
    def of(cls, sums: NDArray) -> Totals:
        """Return the sums of rows of `summands`, given with shape (..., 5)."""
        return cls(*np.moveaxis(np.asarray(sums), -1, 0))


def check(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> None:
    """Raise ValueError unless the arrays hold n >= 1 questions with filed confidences in [0, 1].

    Apart from the measures, so that a bootstrap checks once and not once a resample.
    """
    stated = np.asarray(confidence, dtype=float)
    judged = np.asarray(right)
    if stated.shape != judged.shape or stated.ndim == 0 or stated.shape[-1] == 0:
        raise ValueError(f"confidence and right must have one shape (..., n >= 1) (got {stated.shape}, {judged.shape})")
    if judged.dtype != bool:
        raise ValueError(f"right must be boolean (got {judged.dtype})")
    known = np.ones(stated.shape, bool) if filed is None else np.asarray(filed, dtype=bool)
    if known.shape != stated.shape:
        raise ValueError(f"filed must have the shape of confidence (got {known.shape}, {stated.shape})")
    # written so that NaN fails it
    outside = known & ~((stated >= 0) & (stated <= 1))
    if outside.any():
        raise ValueError(f"confidence must lie in [0, 1] where it is filed (got {stated[outside][0]})")
    if (judged & ~known).any():
        raise ValueError("a question without a filed answer cannot be right")


def summands(
    confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None, counted: ArrayLike | None = None
) -> NDArray:
    """Return what each question adds to `Totals`, shape (..., n, 5); 0 throughout where it is not `counted`."""
    stated, judged = np.asarray(confidence, dtype=float), np.asarray(right, dtype=bool)
    counts = np.ones(judged.shape, bool) if counted is None else np.asarray(counted, dtype=bool)
    known = counts if filed is None else counts & np.asarray(filed, dtype=bool)
    hits, misses = known & judged, known & ~judged
    parts = (counts, hits, misses, np.where(hits, stated, 0.0), np.where(misses, stated, 0.0))
    return np.stack(parts, axis=-1, dtype=float)


def accuracy_of(sums: Totals) -> NDArray:
    """Return the share of right answers; NaN where no question counts."""
    return ratio(sums.right, sums.n)


def r_o_of(sums: Totals) -> NDArray:
    """Return R_O, how little confidence went to wrong answers; 1 where none is wrong, NaN where no question counts."""
    return np.where(sums.n > 0, 1.0 - sums.stated_wrong / np.maximum(sums.wrong, 1), np.nan)


def r_u_of(sums: Totals) -> NDArray:
    """Return R_U, how much confidence went to right answers; 1 where none is right, NaN where no question counts."""
    mean = np.where(sums.right > 0, sums.stated_right / np.maximum(sums.right, 1), 1.0)
    return np.where(sums.n > 0, mean, np.nan)


def hmr_of(sums: Totals) -> NDArray:
    """Return HMR, the harmonic mean of R_O and R_U; 0 where both are 0, NaN where no question counts."""
    return harmonic_mean(r_o_of(sums), r_u_of(sums))


def acc_hmr_of(sums: Totals) -> NDArray:
    """Return accHMR = accuracy x HMR; NaN where no question counts."""
    return accuracy_of(sums) * hmr_of(sums)


def overconfidence_bias_of(sums: Totals) -> NDArray:
    """Return OB in [-1, 1]: mean confidence less accuracy; NaN where no confidence is filed."""
    return ratio(sums.stated_right + sums.stated_wrong, sums.right + sums.wrong) - accuracy_of(sums)


def harmonic_mean(first: ArrayLike, second: ArrayLike) -> NDArray:
    """Return the harmonic mean of two numbers >= 0; 0 where both are 0."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    total = first + second
    # written so that NaN stays
    return np.where(total == 0, 0.0, 2 * first * second / np.where(total == 0, 1.0, total))


def ratio(part: ArrayLike, whole: ArrayLike) -> NDArray:
    """Return part / whole; NaN, undefined, where the whole is not above 0."""
    part, whole = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
