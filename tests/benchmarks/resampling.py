"""What tests and bootstrap intervals cost: ours, the obvious Python loop, and scipy, on the same data.

    python tests/benchmarks/resampling.py [--questions 64 1000] [--looped 200]

A loop draws, exchanges or permutes one trial after the other and measures it with a function that takes one run; it is
run for ``--looped`` trials and extrapolated. scipy's ``permutation_test`` and ``bootstrap`` get a statistic that takes
many trials at once (``vectorized``), so that what is compared is how they resample. ``apart`` is the largest distance
of a p value or an end of an interval from ours: the seeds differ, so it is the noise of as many trials, few in a loop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import permutation_test
from sklearn.metrics import roc_auc_score

from calibrag.evaluation import bootstrap, significance
from calibrag.evaluation.answer_measures import NAMES, Answers, parse_measure
from calibrag.evaluation.answer_significance import exchange_test

RUNS, TRIALS, RESAMPLES, LEVEL = 25, 20_000, 10_000, 0.95
HMR, AUROC = parse_measure("HMR"), parse_measure("AUROC")


class Row(NamedTuple):
    """A line of the table; seconds and largest distances from ours, None where there is no such alternative."""

    what: str
    size: str
    ours: float
    loop: float | None
    loop_apart: float | None
    scipy: float | None
    scipy_apart: float | None


def timed(function: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """Return the seconds of the best of three calls, and what the last returned."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        found = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), np.atleast_1d(found)


def looped(function: Callable[[int], np.ndarray], trials: int, of: int) -> tuple[float, np.ndarray]:
    """Return the seconds that `of` trials would take, by so many that were made, and what these gave."""
    start = time.perf_counter()
    found = function(trials)
    return (time.perf_counter() - start) * of / trials, np.atleast_1d(found)


def compared(what: str, size: str, ours, loop=None, other=None) -> Row:
    """Return a line of the table from (seconds, found) of each."""
    cells = []
    for side in (loop, other):
        cells += (None, None) if side is None else (side[0], float(np.abs(side[1] - ours[1]).max()))
    return Row(what, size, ours[0], *cells)


def plain_hmr(stated: list[float], right: list[bool]) -> float:
    """Return HMR of one run, as one would write it."""
    of_right = [c for c, is_right in zip(stated, right, strict=True) if is_right]
    of_wrong = [c for c, is_right in zip(stated, right, strict=True) if not is_right]
    r_u = sum(of_right) / len(of_right) if of_right else 1.0
    r_o = 1 - sum(of_wrong) / len(of_wrong) if of_wrong else 1.0
    return 2 * r_o * r_u / (r_o + r_u) if r_o + r_u else 0.0


def loop_tukey(scores: np.ndarray, trials: int) -> np.ndarray:
    """Return p of all pairs by permuting each question's scores in turn."""
    generator, means = np.random.default_rng(1), scores.mean(axis=0)
    observed, count = np.abs(means[:, None] - means), np.zeros((RUNS, RUNS))
    for _ in range(trials):
        exchanged = np.array([generator.permutation(row) for row in scores]).mean(axis=0)
        count += exchanged.max() - exchanged.min() >= observed - 1e-12
    return count / trials


def loop_paired(gained: np.ndarray, trials: int) -> float:
    """Return p of the paired test by changing signs trial by trial."""
    generator, observed, count = np.random.default_rng(1), abs(gained.mean()), 0
    for _ in range(trials):
        signs = generator.choice((-1, 1), len(gained))
        count += abs((signs * gained).mean()) >= observed - 1e-12
    return count / trials


def loop_exchange(first: tuple, second: tuple, trials: int) -> float:
    """Return p of the exchange test of HMR by exchanging answer by answer."""
    generator, count = np.random.default_rng(1), 0
    observed = abs(plain_hmr(*first) - plain_hmr(*second))
    answers = list(zip(zip(*first, strict=True), zip(*second, strict=True), strict=True))
    for _ in range(trials):
        pairs = [(b, a) if generator.random() < 0.5 else (a, b) for a, b in answers]
        one, two = (zip(*side, strict=True) for side in zip(*pairs, strict=True))
        count += abs(plain_hmr(*one) - plain_hmr(*two)) >= observed - 1e-12
    return count / trials


def loop_bootstrap(measure: Callable, stated: np.ndarray, right: np.ndarray, resamples: int) -> np.ndarray:
    """Return the interval by measuring resample after resample."""
    generator = np.random.default_rng(1)
    values = []
    for _ in range(resamples):
        rows = generator.integers(0, len(right), len(right))
        values.append(measure(stated[rows], right[rows]))
    return np.nanquantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])


def our_bootstrap(measure, stated: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the interval as the tables have it."""
    index = bootstrap.resamples(len(right), RESAMPLES, 1)
    values = [measure.of(Answers(stated, right, weights=weights)) for weights in bootstrap.multiplicities(index)]
    return np.array(bootstrap.interval_where_defined(np.concatenate(values), LEVEL)[:2])


def their_bootstrap(measure, stated: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the interval by scipy; the statistic is ours, of arrays."""

    def statistic(stated, right, axis):
        return measure(np.moveaxis(stated, axis, -1), np.moveaxis(right, axis, -1) > 0.5)

    found = scipy_bootstrap(
        (stated, right.astype(float)), statistic, paired=True, vectorized=True, n_resamples=RESAMPLES,
        confidence_level=LEVEL, method="percentile", batch=500, rng=np.random.default_rng(2),
    )  # fmt: skip
    return np.array(found.confidence_interval)


def their_exchange(first: tuple, second: tuple) -> float:
    """Return p of the exchange test of HMR by scipy, which exchanges numbers: an answer is packed into one."""
    packed = [np.where(right, stated + 2, stated) for stated, right in (first, second)]

    def statistic(one, two, axis):
        one, two = (np.moveaxis(side, axis, -1) for side in (one, two))
        return HMR(one % 2, one >= 2) - HMR(two % 2, two >= 2)

    return permutation_test(
        packed, statistic, permutation_type="samples", vectorized=True, n_resamples=TRIALS, batch=500,
        rng=np.random.default_rng(2),
    ).pvalue  # fmt: skip


def rows(questions: int, trials: int) -> list[Row]:
    """Return the lines of the table for so many questions."""
    generator = np.random.default_rng(questions)
    scores = np.clip(generator.random((questions, 1)) + generator.normal(0, 0.2, (questions, RUNS)), 0, 1)
    gained = scores[:, 0] - scores[:, 1]
    right = generator.random((2, questions)) < [[0.7], [0.6]]
    # below 1, so that an answer can be packed into a number
    stated = np.round(np.clip(generator.normal(0.4 + 0.2 * right, 0.25), 0, 0.99), 2)
    first, second = (stated[0], right[0]), (stated[1], right[1])
    pair = (Answers(*first), Answers(*second))

    def mean_apart(one, two, axis):
        return (one - two).mean(axis=axis)

    tests = [
        compared(
            "randomised Tukey HSD, all pairs of 25 runs", f"{questions} x {RUNS}, {TRIALS:,} trials",
            timed(lambda: significance.tukey_hsd(scores, TRIALS, 1)),
            looped(partial(loop_tukey, scores), trials, TRIALS),
        ),
        compared(
            "paired randomisation", f"{questions}, {TRIALS:,} trials",
            timed(lambda: significance.paired_randomisation(gained[:, None], TRIALS, 1)),
            looped(partial(loop_paired, gained), trials, TRIALS),
            timed(lambda: permutation_test(
                (scores[:, 0], scores[:, 1]), mean_apart, permutation_type="samples", vectorized=True,
                n_resamples=TRIALS, batch=500, rng=np.random.default_rng(2),
            ).pvalue),
        ),
        compared(
            "exchange test of HMR", f"{questions}, {TRIALS:,} trials",
            timed(lambda: exchange_test(HMR, [pair], TRIALS, 1)),
            looped(partial(loop_exchange, first, second), trials, TRIALS),
            timed(lambda: their_exchange(first, second)),
        ),
    ]  # fmt: skip
    size = f"{questions}, {RESAMPLES:,} resamples"
    intervals = [
        compared(
            f"bootstrap interval of {measure}", size, timed(partial(our_bootstrap, measure, *first)),
            looped(partial(loop_bootstrap, plain, *first), trials, RESAMPLES),
            timed(partial(their_bootstrap, measure, *first)),
        )
        for measure, plain in ((HMR, plain_hmr), (AUROC, lambda stated, right: roc_auc_score(right, stated)))
    ]  # fmt: skip
    measures = [parse_measure(name) for name in NAMES if parse_measure(name).column in (None, "right")]

    def all_of_them() -> np.ndarray:
        index = bootstrap.resamples(questions, RESAMPLES, 1)
        for weights in bootstrap.multiplicities(index):
            answers = Answers(*first, weights=weights)
            found = [measure.of(answers) for measure in measures]
        return np.array(len(found))

    return [*tests, *intervals, compared(f"bootstrap of {len(measures)} measures together", size, timed(all_of_them))]


def printed(row: Row) -> str:
    """Return the line as Markdown."""

    def side(seconds: float | None, apart: float | None) -> list[str]:
        return ["", "", ""] if seconds is None else [f"{seconds:.2f}", f"{seconds / row.ours:,.0f}x", f"{apart:.3f}"]

    cells = [row.what, row.size, f"{row.ours:.3f}", *side(row.loop, row.loop_apart), *side(row.scipy, row.scipy_apart)]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[64, 1000], help="questions of a run")
    parser.add_argument("--looped", type=int, default=200, help="trials that a loop makes before it is extrapolated")
    arguments = parser.parse_args()
    print("| what | questions | ours, s | loop, s | ratio | apart | scipy, s | ratio | apart |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for questions in arguments.questions:
        for row in rows(questions, arguments.looped):
            print(printed(row), flush=True)


if __name__ == "__main__":
    main()
