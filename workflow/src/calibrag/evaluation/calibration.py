"""How well confidence tells right from wrong answers (AUROC, AURC, PRR, Spearman), and how true it is (ECE, Brier).

Every measure is a function of a `Tally`: how many right and wrong answers stand at each distinct confidence. Answers of
one confidence have no order among themselves, so a tally knows none: AUROC counts them half, AURC and PRR are
expectations over all of their orders, Spearman takes mid-ranks, and equal-mass bins never part them.

Answers without a filed confidence have no part in any of these. NaN means undefined: no answer, or, for AUROC, PRR and
Spearman, right or wrong answers alone (Spearman also: one confidence alone).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrag.evaluation.confidence import ratio

Binning = Literal["width", "mass"]


class Tally(NamedTuple):
    """Filed answers by confidence, lowest first.

    ``level``, the confidences, has a shape that broadcasts with that of the counts ``right`` and ``wrong``, (..., d).
    A level at which nothing is counted changes no measure.
    """

    level: NDArray
    right: NDArray
    wrong: NDArray

    @property
    def size(self) -> NDArray:
        """Answers at each level."""
        return self.right + self.wrong


def tally(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike | None = None) -> Tally:
    """Return the tally of answers given with shape (..., n): each row sorted once, ties counted at their last place."""
    stated, judged = np.asarray(confidence, dtype=float), np.asarray(right, dtype=bool)
    known = np.ones(judged.shape, bool) if filed is None else np.asarray(filed, dtype=bool)
    order = np.argsort(np.where(known, stated, np.inf), axis=-1)
    level, known, judged = (np.take_along_axis(array, order, axis=-1) for array in (stated, known, judged))
    level = np.where(known, level, 0.0)
    last = np.ones(level.shape, bool)
    last[..., :-1] = (level[..., 1:] != level[..., :-1]) | ~known[..., 1:]
    return Tally(level, *(_at_last(part, last) for part in (known & judged, known & ~judged)))


def _at_last(part: NDArray, last: NDArray) -> NDArray:
    """Return the sums of runs of ties, each at its last place, 0 elsewhere."""
    upto = np.maximum.accumulate(np.where(last, np.cumsum(part, axis=-1), 0), axis=-1)
    return np.diff(upto, prepend=0, axis=-1)


def weighted_tally(confidence: ArrayLike, right: ArrayLike, filed: ArrayLike, weights: NDArray) -> Tally:
    """Return the tallies of resamples: question i, of n, stands ``weights[b, i]`` times in resample b.

    The same as `tally` of the gathered arrays, but sorted once for all resamples.
    """
    stated, judged, known = np.asarray(confidence, float), np.asarray(right, bool), np.asarray(filed, bool)
    rows = np.flatnonzero(known)
    rows = rows[np.argsort(stated[rows], kind="stable")]
    level, first = np.unique(stated[rows], return_index=True)
    if not len(rows):
        nothing = np.zeros((*weights.shape[:-1], 0), int)
        return Tally(level, nothing, nothing)
    drawn = weights[..., rows].astype(np.int32)
    parts = (np.add.reduceat(drawn * part[rows], first, axis=-1, dtype=np.int64) for part in (judged, ~judged))
    return Tally(level, *parts)


def auroc(answers: Tally) -> NDArray:
    """Return the chance that a right answer has the higher confidence than a wrong one, ties half; .5 is no better than
    chance."""
    below = np.cumsum(answers.wrong, axis=-1) - answers.wrong / 2
    pairs = answers.right.sum(axis=-1) * answers.wrong.sum(axis=-1)
    return ratio((answers.right * below).sum(axis=-1), pairs)


def spearman(answers: Tally) -> NDArray:
    """Return Spearman's rank correlation, in [-1, 1], of confidence with being right."""
    size = answers.size
    n, right = size.sum(axis=-1), answers.right.sum(axis=-1)
    # mid-ranks less their mean
    rank = np.cumsum(size, axis=-1) - size / 2 - n[..., None] / 2
    together = (answers.right * rank).sum(axis=-1)
    spread = (size * rank**2).sum(axis=-1) * right * (n - right)
    # divided by the roots of n x both variances
    return ratio(together * np.sqrt(n), np.sqrt(spread))


def aurc(answers: Tally) -> NDArray:
    """Return the area under the risk-coverage curve, in [0, 1], lower = better.

    The mean over k = 1 .. n of the share of wrong answers among the k most confident (Geifman and El-Yaniv, NeurIPS
    2017), in expectation over the orders of ties: within a level, wrong answers come evenly.
    """
    size = answers.size
    n = size.sum(axis=-1)
    # at a level: answers, and wrong ones, of higher confidence
    before = n[..., None] - np.cumsum(size, axis=-1)
    wrong_before = answers.wrong.sum(axis=-1)[..., None] - np.cumsum(answers.wrong, axis=-1)
    share = answers.wrong / np.maximum(size, 1)
    harmonic = _harmonic(n)
    steps = harmonic[before + size] - harmonic[before]
    return ratio((share * size + (wrong_before - share * before) * steps).sum(axis=-1), n)


def prr(answers: Tally) -> NDArray:
    """Return the prediction rejection ratio: 1 as good as knowing what is wrong, 0 as good as chance, below 0 worse.

    With the area A of a rejection curve the mean over k of the share of right answers among the k most confident, PRR =
    (A - A of chance) / (A of the oracle - A of chance) (Malinin et al. 2021; lm-polygraph). A is 1 - AURC, that of
    chance the accuracy, and only A depends on ties.
    """
    n, right = answers.size.sum(axis=-1), answers.right.sum(axis=-1)
    harmonic = _harmonic(n)
    risk = (n - right) / np.maximum(n, 1)
    # the oracle keeps all right answers before the first wrong one
    oracle = ((n - right) - right * (harmonic[n] - harmonic[right])) / np.maximum(n, 1)
    return np.where((right > 0) & (right < n), ratio(risk - aurc(answers), risk - oracle), np.nan)


def _harmonic(n: NDArray) -> NDArray:
    """Return the sums 1 + 1/2 + ... + 1/k for k from 0 to the largest n."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1, int(np.max(n, initial=0)) + 1))])


def brier(answers: Tally) -> NDArray:
    """Return the mean squared distance of confidence from 1 (right) and 0 (wrong), lower = better."""
    squares = answers.right * (1 - answers.level) ** 2 + answers.wrong * answers.level**2
    return ratio(squares.sum(axis=-1), answers.size.sum(axis=-1))


def ece(answers: Tally, bins: int, binning: Binning) -> NDArray:
    """Return the expected calibration error: the mean over answers of |accuracy - mean confidence| of their bin.

    Parameters
    ----------
    bins
        1 or more.
    binning
        ``width``: bins ((i-1)/bins, i/bins], with 0 in the first (Guo et al., ICML 2017). ``mass``: bins of about
        equally many answers, a level as a whole in the bin of its middle (Nixon et al. 2019).
    """
    gap = np.abs(by_bin(answers.size * answers.level - answers.right, answers, bins, binning)).sum(axis=-1)
    return ratio(gap, answers.size.sum(axis=-1))


def _bin(answers: Tally, bins: int, binning: Binning) -> NDArray:
    """Return the bin, from 0, of each level."""
    if binning == "width":
        # rounded, so that .3 is on the edge whatever 10 x .3 is in binary
        edge = np.ceil(np.round(answers.level * bins, 9)).astype(int) - 1
        return np.broadcast_to(np.clip(edge, 0, bins - 1), answers.size.shape)
    size = answers.size
    middle = 2 * np.cumsum(size, axis=-1) - size
    return np.clip(middle * bins // np.maximum(2 * size.sum(axis=-1), 1)[..., None], 0, bins - 1)


def by_bin(values: NDArray, answers: Tally, bins: int, binning: Binning) -> NDArray:
    """Return the sums of the values of each level over the bins, shape (..., bins)."""
    place = _bin(answers, bins, binning)
    rows = np.arange(int(np.prod(place.shape[:-1], dtype=int)))[:, None] * bins
    flat = (place.reshape(len(rows), -1) + rows).ravel()
    values = np.broadcast_to(values, place.shape)
    return np.bincount(flat, values.ravel(), len(rows) * bins).reshape(*place.shape[:-1], bins)
