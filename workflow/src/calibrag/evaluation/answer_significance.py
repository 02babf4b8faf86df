"""Whether two answer runs over the same questions differ by more than chance, in any measure of answers.

HMR is no mean over questions, so a test that exchanges scores does not fit it. The pair-exchange test exchanges whole
answers, (right, confidence, filed), between two runs within a question, and measures both runs again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.evaluation import bootstrap, confidence
from calibrag.evaluation.answer_measures import Answers, Measure, replicates
from calibrag.evaluation.answer_summary import Missing, answers_of
from calibrag.evaluation.significance import EPSILON, blocks

COLUMNS = (
    "measure", "first", "second", "n", "n_missing", "value_first", "value_second", "difference", "difference_low",
    "difference_high", "difference_undefined", "p_exchange", "p_holm", "won", "lost", "tied", "d_z",
)  # fmt: skip

_DIFFERENCE = COLUMNS[5:11]
_FIELDS = ("confidence", "right", "filed", "counted", "supported", "em", "f1", "nugget_precision")


class Settings(NamedTuple):
    """Of bootstrap intervals and of tests: numbers of resamples and trials, level, seeds, questions that runs lack."""

    resamples: int
    level: float
    bootstrap_seed: int
    trials: int
    exchange_seed: int
    missing: Missing

    @classmethod
    def of(cls, resampling: Mapping[str, Any], tests: Mapping[str, Any], missing: Missing) -> Settings:
        """Return the settings of the blocks ``bootstrap`` and ``significance`` of the configuration."""
        return cls(
            resampling["resamples"], resampling["level"], resampling["seed"], tests["trials"], tests["seed"], missing
        )


class Pair(NamedTuple):
    """Two runs over the same questions; what counts in one but is missing in the other counts in neither."""

    first: Answers
    second: Answers
    n: int
    n_missing: int


def pair_of(first: pd.DataFrame, second: pd.DataFrame, missing: Missing) -> Pair:
    """Return two scored runs, of the same questions in the same order, as a pair.

    ``n`` counts the questions that count in either run. ``n_missing`` are those that either lacks: under ``present``
    they are left out of both, under ``wrong`` they are not right where they lack.

    Raises
    ------
    ValueError
        The runs were asked different questions.
    """
    if list(first["qid"]) != list(second["qid"]):
        raise ValueError("both runs must have the same questions in the same order")
    absent = first["missing"].to_numpy(bool) | second["missing"].to_numpy(bool)
    shared = ~absent if missing == "present" else np.ones(len(absent), bool)
    one, two = (answers_of(run, missing) for run in (first, second))
    one, two = (replace(answers, counted=answers.part & shared) for answers in (one, two))
    return Pair(one, two, int((one.part | two.part).sum()), int(absent.sum()))


def exchange_test(measure: Measure, pairs: Sequence[tuple[Answers, Answers]], trials: int, seed: int) -> NDArray:
    """Return the two-sided p values of the pair-exchange test, one a pair of runs; all pairs have the same questions.

    In each trial every question's answers are exchanged between the two runs or not, at even odds. p is the share of
    trials whose difference between the runs is at least as large as the observed one. A trial in which the measure is
    undefined counts as such a trial, so that p is never too small; p is NaN where the observed difference is undefined.
    p = 0 means less than 1 / trials. The same seed exchanges the same questions for all pairs and measures.
    """
    observed = np.array([float(measure.of(one) - measure.of(two)) for one, two in pairs])
    differences = _of_sums if measure.of_totals else _of_arrays
    count = np.zeros(len(pairs), int)
    generator = np.random.default_rng(seed)
    questions = len(pairs[0][0].right)
    for block in blocks(trials, questions):
        exchanged = generator.integers(0, 2, size=(len(block), questions), dtype=np.int8)
        found = np.abs(differences(measure, pairs, exchanged))
        # written so that NaN counts
        count += (~(found < np.abs(observed) - EPSILON)).sum(axis=0)
    return np.where(np.isnan(observed), np.nan, count / trials)


def _of_sums(measure: Measure, pairs: Sequence[tuple[Answers, Answers]], exchanged: NDArray) -> NDArray:
    """Return the differences of all pairs, shape (trials, pairs): the sums move by what is exchanged."""
    rows = [[confidence.summands(run.confidence, run.right, run.filed, run.counted) for run in pair] for pair in pairs]
    first, second = (np.stack([pair[side] for pair in rows], axis=1) for side in (0, 1))
    moved = np.tensordot(exchanged.astype(float), second - first, axes=1)
    one, two = first.sum(axis=0) + moved, second.sum(axis=0) - moved
    return measure.of_totals(confidence.Totals.of(one)) - measure.of_totals(confidence.Totals.of(two))


def _of_arrays(measure: Measure, pairs: Sequence[tuple[Answers, Answers]], exchanged: NDArray) -> NDArray:
    def exchange(one: Answers, two: Answers, change: NDArray) -> Answers:
        known = {name: (getattr(one, name), getattr(two, name)) for name in _FIELDS}
        known = {name: values for name, values in known.items() if values[0] is not None}
        return Answers(**{name: np.where(change, theirs, ours) for name, (ours, theirs) in known.items()})

    change = exchanged.astype(bool)
    found = [measure.of(exchange(one, two, change)) - measure.of(exchange(two, one, change)) for one, two in pairs]
    return np.stack(found, axis=1)


def difference_replicates(measures: Sequence[Measure], pair: tuple[Answers, Answers], index: NDArray) -> NDArray:
    """Return each measure of the first run less that of the second, on each resample of the questions of both.

    The shape is (measures, B).
    """
    one, two = (replicates([measure.of for measure in measures], answers, index) for answers in pair)
    return one - two


def holm(p: NDArray) -> NDArray:
    """Return p values corrected for their number by Holm's step-down method (1979); NaN stays and does not count."""
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return corrected


def compare_answer_runs(
    runs: Mapping[str, pd.DataFrame], measures: Sequence[Measure], settings: Settings
) -> pd.DataFrame:
    """Return one row a measure and pair of runs, the columns `COLUMNS`.

    ``difference`` is the first less the second, with its paired bootstrap interval; ``difference_undefined`` the share
    of resamples that it is not made of. ``p_holm`` is corrected for all pairs of a measure. ``won``, ``lost``, ``tied``
    (questions on which the first does better, worse, the same) and ``d_z`` (mean difference over the deviation of
    differences) are None for measures that are no mean over questions.

    Parameters
    ----------
    runs
        Name -> scored run, all of the same questions in the same order.
    """
    names = list(combinations(runs, 2))
    pairs = [pair_of(runs[one], runs[two], settings.missing) for one, two in names]
    if not pairs:
        return pd.DataFrame(columns=list(COLUMNS))
    sides = [(pair.first, pair.second) for pair in pairs]
    tests = [exchange_test(measure, sides, settings.trials, settings.exchange_seed) for measure in measures]
    found = [differences(measures, pair, settings) for pair in pairs]
    rows = []
    for place, (measure, p) in enumerate(zip(measures, tests, strict=True)):
        for (first, second), pair, cells, own, corrected in zip(names, pairs, found, p, holm(p), strict=True):
            row = {"measure": str(measure), "first": first, "second": second, "n": pair.n, "n_missing": pair.n_missing}
            row |= cells[place] | {"p_exchange": own, "p_holm": corrected}
            rows.append(row | _by_question(measure, pair))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(("won", "lost", "tied"), "Int64"))


def differences(measures: Sequence[Measure], pair: Pair, settings: Settings) -> list[dict[str, float | None]]:
    """Return, for each measure, its value for both runs and the difference with its paired bootstrap interval.

    The columns from ``value_first`` to ``difference_undefined`` of `COLUMNS`; None where undefined, the interval also
    where there is one question.
    """
    # questions that count in neither run are not drawn
    drawn = pair.first.part | pair.second.part
    sides = tuple(_take(side, drawn) for side in (pair.first, pair.second))
    if pair.n:
        index = bootstrap.resamples(pair.n, settings.resamples, settings.bootstrap_seed)
        replicates = difference_replicates(measures, sides, index)
    else:
        replicates = np.full((len(measures), 1), np.nan)
    rows = []
    for measure, replicated in zip(measures, replicates, strict=True):
        one, two = (float(measure.of(side)) for side in sides)
        value = one - two
        # one question says nothing of how others vary: resampled it is always itself
        known = pair.n > 1 and not np.isnan(value)
        ends = bootstrap.interval_where_defined(replicated, settings.level) if known else (None, None, None)
        cells = (None if np.isnan(x) else x for x in (one, two, value))
        rows.append(dict(zip(_DIFFERENCE, (*cells, *ends), strict=True)))
    return rows


def _take(answers: Answers, kept: NDArray) -> Answers:
    values = {name: getattr(answers, name) for name in _FIELDS}
    return Answers(**{name: None if value is None else np.asarray(value)[kept] for name, value in values.items()})


def _by_question(measure: Measure, pair: Pair) -> dict[str, float | None]:
    names = ("won", "lost", "tied", "d_z")
    both = pair.first.part & pair.second.part
    if measure.column is None or not both.any():
        return dict.fromkeys(names)
    first, second = (np.asarray(getattr(run, measure.column), float)[both] for run in (pair.first, pair.second))
    gained = first - second
    if np.isnan(gained).any():
        return dict.fromkeys(names)
    spread = float(gained.std(ddof=1)) if len(gained) > 1 else 0.0
    counts = [int((gained > EPSILON).sum()), int((gained < -EPSILON).sum()), int((np.abs(gained) <= EPSILON).sum())]
    return dict(zip(names, (*counts, float(gained.mean()) / spread if spread > EPSILON else None), strict=True))
