"""Confidence filed with answers, against which answers were right: R_O, R_U, HMR, accHMR, OB (R2C2).

With c in [0, 1] the filed confidences, I+ the right and I- the wrong answers::

    R_O = 1 - mean(c over I-)    1 if no answer is wrong     (not overconfident)
    R_U = mean(c over I+)        1 if no answer is right     (not underconfident)
    HMR = 2 R_O R_U / (R_O + R_U), 0 if both are 0           accHMR = accuracy x HMR
    OB  = mean(c) - accuracy                                 (overconfidence bias; 0 is best)

Every function takes arrays of shape (..., n), works along the last axis and returns shape (...), so that B
resamples are one call. All but `overconfidence_bias` lie in [0, 1], higher = better.

A refusal to an answerable question is an answer that is not right: it enters I- with the confidence filed with
it, so a refusal at 0 costs accuracy and leaves R_O unharmed. A question that the run lacks has no confidence.
`filed` marks the others: under the policy ``missing: wrong`` it counts in n, as not right, and stays out of
R_O, R_U and mean(c), since any number put in its place would reward or punish a confidence nobody stated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


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


def _mean_where(values: NDArray, chosen: NDArray) -> tuple[NDArray, NDArray]:
    """Return the mean over the chosen (0 where none is) and how many are chosen."""
    count = chosen.sum(axis=-1)
    total = np.where(chosen, values, 0.0).sum(axis=-1)
    return total / np.maximum(count, 1), count


def _arrays(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None) -> tuple[NDArray, NDArray, NDArray]:
    stated, judged = np.asarray(confidence, dtype=float), np.asarray(right, dtype=bool)
    return stated, judged, np.ones(judged.shape, bool) if filed is None else np.asarray(filed, dtype=bool)


def accuracy(right: ArrayLike) -> NDArray:
    """Return the share of right answers."""
    return np.asarray(right, dtype=bool).mean(axis=-1)


def r_o(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> NDArray:
    """Return R_O, how little confidence went to wrong answers; 1 where none is wrong."""
    stated, judged, known = _arrays(confidence, right, filed)
    mean, _ = _mean_where(stated, ~judged & known)
    return 1.0 - mean


def r_u(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> NDArray:
    """Return R_U, how much confidence went to right answers; 1 where none is right."""
    stated, judged, known = _arrays(confidence, right, filed)
    mean, count = _mean_where(stated, judged & known)
    return np.where(count > 0, mean, 1.0)


def hmr(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> NDArray:
    """Return HMR, the harmonic mean of R_O and R_U; 0 where both are 0."""
    return harmonic_mean(r_o(confidence, right, filed), r_u(confidence, right, filed))


def harmonic_mean(first: ArrayLike, second: ArrayLike) -> NDArray:
    """Return the harmonic mean of two numbers >= 0; 0 where both are 0."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    total = first + second
    return np.where(total > 0, 2 * first * second / np.where(total > 0, total, 1.0), 0.0)


def acc_hmr(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> NDArray:
    """Return accHMR = accuracy x HMR."""
    return accuracy(right) * hmr(confidence, right, filed)


def overconfidence_bias(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> NDArray:
    """Return OB in [-1, 1]: mean confidence less accuracy, above 0 where too much was claimed."""
    stated, judged, known = _arrays(confidence, right, filed)
    mean, _ = _mean_where(stated, known)
    return mean - accuracy(judged)


def measures(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> dict[str, NDArray]:
    """Return accuracy, r_o, r_u, hmr, acc_hmr and ob by name, each computed once."""
    share, over, under = accuracy(right), r_o(confidence, right, filed), r_u(confidence, right, filed)
    harmonic = harmonic_mean(over, under)
    bias = overconfidence_bias(confidence, right, filed)
    return {"accuracy": share, "r_o": over, "r_u": under, "hmr": harmonic, "acc_hmr": share * harmonic, "ob": bias}
