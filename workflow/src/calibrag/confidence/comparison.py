"""Sources of confidence side by side, on the same answers: measures, paired differences, and what is beyond noise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.confidence.extraction import read_signals
from calibrag.confidence.fitted_folds import check_folds, read_folds
from calibrag.evaluation import bootstrap
from calibrag.evaluation.answer_measures import Answers, Measure, parse_measure, replicates
from calibrag.evaluation.answer_significance import exchange_test
from calibrag.normalisation import answer_key
from calibrag.runs.names import BASE_RATE

CONSTANTS = {"constant-50": 0.5, "always-100": 1.0, "always-0": 0.0}
"""Sources that know nothing."""

FILED = "pass confidence"
"""The source that is the confidence of the answer in its pass, as filed there."""

DIFFERENCES = ("HMR", "accHMR")
"""Measures by which a source is compared with the studied rule; the last ranks them."""

MEASURES = ("accuracy", "R_O", "R_U", "HMR", "accHMR", "Brier", "ECE", "AUROC", "AURC")
COUNTS = ("n", "n_missing", "n_refused", "n_right")
COLUMNS = (
    "source", *COUNTS, "rank", "beyond_next", *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high")),
    *(f"{name}_{end}" for name in DIFFERENCES for end in ("difference", "difference_low", "difference_high", "p")),
)  # fmt: skip


class Sampled(NamedTuple):
    """A measure on all answers, NaN where it is undefined, and on each resample."""

    value: float
    replicates: NDArray[np.float64]

    def cells(self, name: str, level: float) -> dict[str, float | None]:
        """Return the value and its interval as columns; None where undefined, resamples without a value left out."""
        if np.isnan(self.value):
            return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
        low, high, _ = bootstrap.interval_where_defined(self.replicates, level)
        return {name: self.value, f"{name}_low": low, f"{name}_high": high}

    def less(self, other: Sampled) -> Sampled:
        """Return the difference to another source on the same answers and resamples."""
        return Sampled(self.value - other.value, self.replicates - other.replicates)


def sample(measures: Sequence[Measure], stated: NDArray, right: NDArray, index: NDArray) -> dict[Measure, Sampled]:
    """Return each measure of n answers on all of them and on the resamples ``index``, shape (B, n)."""
    found = replicates([measure.of for measure in measures], Answers(stated, right), index)
    return {measure: Sampled(float(measure(stated, right)), of) for measure, of in zip(measures, found, strict=True)}


def sources_of(
    rows: pd.DataFrame, signals: pd.DataFrame, studied: str, others: Collection[str]
) -> tuple[pd.DataFrame, dict[str, NDArray[np.float64]]]:
    """Return the studied run's answers that count, and source -> the confidence of each, NaN where it has none.

    A source is asked about the answers of the studied run, never its own: where another run answers otherwise, its
    confidence is missing. Refusals have confidence 0 in every source that has a confidence of some answer. Questions
    that the run lacks do not count, nor do right refusals.

    Parameters
    ----------
    rows
        The answers of a system, as score_answer_runs writes them.
    signals
        Signals of the studied run's answers.
    studied
        The studied run.
    others
        Runs whose confidence is compared; those that the system has.
    """
    answers = rows[(rows["run"] == studied) & ~rows["missing"]]
    answers = answers[~(answers["refused"] & ~answers["supported"])].reset_index(drop=True)
    filed = signals.set_index("qid")["filed_confidence"].reindex(answers["qid"]).to_numpy(float)
    sources = {studied: answers["confidence"].to_numpy(float), FILED: filed}
    for name, of in rows[rows["run"].isin(others)].groupby("run", sort=False):
        sources[name] = _same_answer(answers, of)
    sources |= {name: np.full(len(answers), constant) for name, constant in CONSTANTS.items()}
    refused = answers["refused"].to_numpy(bool)
    return answers, {
        name: stated if np.isnan(stated[~refused]).all() and name != studied else np.where(refused, 0.0, stated)
        for name, stated in sources.items()
    }


def _same_answer(answers: pd.DataFrame, other: pd.DataFrame) -> NDArray[np.float64]:
    """Return the other run's confidence where it has the same answer, else NaN."""
    theirs = other.set_index("qid").reindex(answers["qid"])
    pairs = zip(answers["answer"], theirs["answer"], strict=True)
    same = [isinstance(a, str) and isinstance(b, str) and answer_key(a) == answer_key(b) for a, b in pairs]
    return np.where(same, theirs["confidence"].to_numpy(float), np.nan)


def compare_confidences(
    rows: pd.DataFrame, signals: pd.DataFrame, studied: str, others: Collection[str],
    resampling: Mapping[str, Any], tests: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row a source of confidence, the best by accHMR first: the columns ``COLUMNS``.

    ``n`` counts the answers that the source has a confidence for, and ``rank`` the sources that have one for every
    answer. A ``_difference`` is the source less the studied rule on the answers that the source has, ``_p`` that of the
    pair-exchange test. ``beyond_next``: whether the interval of its accHMR less that of the next in rank leaves out 0;
    None for the last. Measures are None where they are undefined. Where the system has not filed the studied run, for
    its log does not hold what the run needs, its one row is the run's, all of whose answers are missing.

    Parameters
    ----------
    rows, signals, studied, others
        See `sources_of`.
    resampling, tests
        The blocks ``evaluation.bootstrap`` and ``evaluation.significance`` of the configuration.
    """
    if not (rows["run"] == studied).any():
        unknown = pd.DataFrame([{"source": studied} | dict(zip(COUNTS, (0, rows["qid"].nunique(), 0, 0), strict=True))])
        return _rank(unknown, {}, resampling["level"])
    answers, sources = sources_of(rows, signals, studied, others)
    wanted = list(map(parse_measure, MEASURES))
    right, rule = answers["right"].to_numpy(bool), sources[studied]
    table, whole = [], {}
    p = _exchange(sources, studied, right, tests)
    for name, stated in sources.items():
        known = ~np.isnan(stated)
        held = answers[known]
        counts = (int(known.sum()), int((~known).sum()), int(held["refused"].sum()), int(held["right"].sum()))
        row: dict[str, Any] = {"source": name} | dict(zip(COUNTS, counts, strict=True))
        if known.any():
            index = bootstrap.resamples(int(known.sum()), resampling["resamples"], resampling["seed"])
            sampled = sample(wanted, stated[known], right[known], index)
            for measure in wanted:
                row |= sampled[measure].cells(str(measure), resampling["level"])
            if name in p:
                beside = sample(list(map(parse_measure, DIFFERENCES)), rule[known], right[known], index)
                for measure, theirs in beside.items():
                    difference = sampled[measure].less(theirs)
                    row |= difference.cells(f"{measure}_difference", resampling["level"])
                    row[f"{measure}_p"] = p[name][str(measure)]
            if known.all():
                whole[name] = sampled[parse_measure(DIFFERENCES[-1])]
        table.append(row)
    return _rank(pd.DataFrame(table), whole, resampling["level"])


def _exchange(sources: Mapping[str, NDArray], studied: str, right: NDArray, tests: Mapping[str, Any]) -> dict:
    """Return source -> measure -> p of the pair-exchange test against the studied rule, of sources with answers."""
    known = {name: ~np.isnan(stated) for name, stated in sources.items() if name != studied}
    names = [name for name, part in known.items() if part.any()]
    pairs = [
        (Answers(sources[name], right, counted=known[name]), Answers(sources[studied], right, counted=known[name]))
        for name in names
    ]
    found = {name: exchange_test(parse_measure(name), pairs, tests["trials"], tests["seed"]) for name in DIFFERENCES}
    return {name: {of: float(p[place]) for of, p in found.items()} for place, name in enumerate(names)}


def _rank(table: pd.DataFrame, whole: Mapping[str, Sampled], level: float) -> pd.DataFrame:
    """Return the table in the order of rank, sources with missing confidences last, with ``beyond_next``."""
    order = sorted(whole, key=lambda name: -whole[name].value)
    ranks = pd.Series({name: whole[name].value for name in order}, dtype=float).rank(method="min", ascending=False)
    table = table.assign(rank=table["source"].map(ranks).astype("Int64"))
    beyond = {}
    for name, following in zip(order, order[1:], strict=False):
        low, _ = bootstrap.interval(whole[name].less(whole[following]).replicates, level)
        beyond[name] = low > 0
    table["beyond_next"] = pd.Series([beyond.get(name) for name in table["source"]], dtype=object)
    return table.sort_values("rank", kind="stable", na_position="last").reindex(columns=COLUMNS).reset_index(drop=True)


def compare_systems(
    rows: pd.DataFrame, signals: Sequence[str | Path], folds: Sequence[str | Path], studied: str,
    others: Collection[str], resampling: Mapping[str, Any], tests: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return `compare_confidences` of several systems below one another, behind the columns collection and system.

    Parameters
    ----------
    rows
        The answers of all of them, as score_answer_runs writes them, system after system.
    signals, folds
        The files of each system, in that order.

    Raises
    ------
    LeakError
        The folds of a fitted confidence part equal questions, or hold a question not exactly once.
    """
    tables = []
    systems = rows.groupby(["collection", "system"], sort=False)
    for (keys, of), its_signals, its_folds in zip(systems, signals, folds, strict=True):
        fitted = of[(of["run"] == BASE_RATE) & ~of["missing"] & ~of["refused"]]
        check_folds(read_folds(its_folds), fitted["qid"])
        table = compare_confidences(of, read_signals(its_signals), studied, others, resampling, tests)
        table.insert(0, "collection", keys[0])
        table.insert(1, "system", keys[1])
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
