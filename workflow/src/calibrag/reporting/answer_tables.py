"""From answers by question to the tables of answer runs: all runs, pairs of runs, two runs by type of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from calibrag.evaluation.answer_measures import RANKED_BY, describe_measures, parse_measures
from calibrag.evaluation.answer_significance import COLUMNS, Settings, compare_answer_runs, differences, pair_of
from calibrag.evaluation.answer_summary import ENDS, summarise_answer_run
from calibrag.reporting.summaries import one_row_each

KEYS = ["collection", "system", "run"]

RUNS = {
    "collection": "collection",
    "system": "system",
    "run": "run",
    "rank": f"rank by {RANKED_BY}",
    "n": "n",
    "n_missing": "missing",
    "n_error": "errors",
    "n_refused": "refused",
    "n_right": "right",
    "n_undecided": "undecided",
    "n_right_refusals": "right refusals",
    "share_no_wrong": "resamples without wrong",
    "share_no_right": "resamples without right",
}
PAIRS = {
    "collection": "collection",
    "system": "system",
    "measure": "measure",
    "first": "first",
    "second": "second",
    "n": "n",
    "n_missing": "missing",
    "value_first": "first's",
    "value_second": "second's",
    "difference": "first - second",
    "p_exchange": "p, exchange",
    "p_holm": "p, Holm",
    "won": "won",
    "lost": "lost",
    "tied": "tied",
    "d_z": "d_z",
}
TYPES = {
    "collection": "collection",
    "system": "system",
    "type": "type",
    "measure": "measure",
    "first": "first",
    "second": "second",
    "n": "n",
    "n_missing": "missing",
    "value_first": "first's",
    "value_second": "second's",
    "difference": "first - second",
}
UNTYPED = "-"
"""The type of questions that have none."""


def summarise_answers(
    scores: pd.DataFrame, measures: Sequence[str], missing: str, resampling: Mapping[str, Any]
) -> pd.DataFrame:
    """Return one row an answer run: its keys, rank, counts, and each measure with its interval.

    ``rank`` is the place among the runs of the collection by accHMR, 1 the best; runs of others stand among ours.

    Parameters
    ----------
    scores
        Answers by question, of all collections, systems and runs.
    measures
        Names of measures; they hold accHMR.
    """
    parsed = parse_measures(measures)
    settings = (resampling["resamples"], resampling["level"], resampling["seed"], missing)
    table = one_row_each(scores, KEYS, lambda rows: summarise_answer_run(rows, parsed, *settings))
    # a column without any value would be of objects
    table = table.astype(dict.fromkeys((f"{name}{end}" for name in measures for end in ENDS), float))
    # rounded, so that equal runs are placed alike
    places = table[RANKED_BY].round(12).groupby(table["collection"]).rank(method="min", ascending=False)
    table.insert(len(KEYS), "rank", places.astype("Int64"))
    return table


def run_headings(table: pd.DataFrame, measures: Sequence[str]) -> dict[str, str]:
    """Return the columns of the table of answer runs with their headings.

    Measures without unsupported questions are columns only where there are some: they are the same as with them.
    """
    supported = not table["n_unsupported"].any()
    shown = [name for name in measures if not (supported and "unsupported=leave_out" in name.replace(" ", ""))]
    return RUNS | {name: name for name in shown}


def describe_runs(table: pd.DataFrame, measures: Sequence[str]) -> list[str]:
    """Return what a caption says of the measures, and of resamples in which one is undefined."""
    notes = [
        describe_measures(parse_measures(measures)),
        "A dash: undefined. Without a wrong answer R_O is 1, and without a right one R_U. Undecided: answers near a "
        "gold answer, counted as wrong until a review or a judge decides; as many more may be right.",
    ]
    undefined = {name: table[f"{name}_undefined"].max() for name in measures}
    if listed := [f"{name} {share:.1%}" for name, share in undefined.items() if share > 0]:
        notes.append(
            f"Intervals leave out the resamples in which a measure is undefined, at most: {', '.join(listed)}."
        )
    if not table["n_unsupported"].any():
        notes.append("No question is unsupported, so that measures without those are not shown.")
    return notes


def compare_answers(
    scores: pd.DataFrame, compared: Mapping[str, Any], missing: str, resampling: Mapping[str, Any],
    tests: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row a collection, system, measure and pair of its runs; see `compare_answer_runs` for the columns.

    Parameters
    ----------
    compared
        The block ``compared.answers`` of the configuration: measures, and the reference, which comes second in all of
        its pairs.
    resampling, tests
        The blocks ``bootstrap`` and ``significance`` of the configuration.
    """
    measures, settings = parse_measures(compared["measures"]), Settings.of(resampling, tests, missing)
    tables = [pd.DataFrame(columns=["collection", "system", *COLUMNS])]
    for (collection, system), rows in scores.groupby(["collection", "system"], sort=False):
        names = sorted(dict.fromkeys(rows["run"]), key=lambda run: run == compared["reference"])
        runs = {name: rows[rows["run"] == name] for name in names}
        found = compare_answer_runs(runs, measures, settings)
        found.insert(0, "collection", collection)
        found.insert(1, "system", system)
        tables.append(found)
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else tables[0]


def against_reference(table: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the pairs that hold the reference; of a system without such pairs, all."""
    holds = (table["first"] == reference) | (table["second"] == reference)
    known = holds.groupby([table["collection"], table["system"]]).transform("any") if len(table) else holds
    return table[holds | ~known]


def describe_exchange(tests: Mapping[str, Any]) -> str:
    """Return how the tests of the table were made, in sentences."""
    return (
        f"p, exchange: {tests['trials']:,} random exchanges of whole answers (right, confidence) between the two runs "
        f"within questions (seed {tests['seed']}), 0 is less than 1 / {tests['trials']:,}; each pair alone. p, Holm: "
        "corrected for all pairs of the system's runs, by measure."
    )


def compare_types(
    scores: pd.DataFrame, compared: Mapping[str, Any], missing: str, resampling: Mapping[str, Any],
    tests: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row a collection, system, type of question and measure: the run ``by_type`` less the reference.

    The columns are those of ``TYPES`` and the interval of the difference; a system that lacks one of the runs has no
    rows. Parameters are those of `compare_answers`.
    """
    measures, settings = parse_measures(compared["measures"]), Settings.of(resampling, tests, missing)
    first, second = compared["by_type"], compared["reference"]
    rows = []
    typed = scores.assign(type=scores["type"].fillna(UNTYPED))
    for (collection, system, kind), asked in typed.groupby(["collection", "system", "type"], sort=True):
        runs = [asked[asked["run"] == name] for name in (first, second)]
        if any(run.empty for run in runs):
            continue
        pair = pair_of(*runs, settings.missing)
        keys = {"collection": collection, "system": system, "type": kind, "first": first, "second": second}
        for measure, cells in zip(measures, differences(measures, pair, settings), strict=True):
            rows.append(keys | {"measure": str(measure), "n": pair.n, "n_missing": pair.n_missing} | cells)
    ends = ["difference_low", "difference_high", "difference_undefined"]
    return pd.DataFrame(rows, columns=[*TYPES, *ends])
