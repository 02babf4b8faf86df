"""Columns and captions of the tables of the confidence study: signals, errors, cost, length of rankings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from calibrag.evaluation.cost import QUANTITIES, RUN
from calibrag.evaluation.error_analysis import count_errors
from calibrag.evaluation.list_length import RUNS, compare_lengths

SIGNALS = {
    "collection": "collection",
    "system": "system",
    "signal": "signal",
    "where": "of",
    "unit": "unit",
    "n": "n",
    "n_missing": "missing",
    "n_right": "right",
    "n_values": "values",
    "auroc": "AUROC",
    "n_undefined": "undefined resamples",
    "p": "p",
    "p_adjusted": "p, adjusted",
    "surer": "surer by",
    "published": "published",
}
LABELS = {
    "collection": "collection",
    "system": "system",
    "source": "source",
    "n": "answers",
    "n_decided": "decided",
    "n_compared": "compared",
    "n_differ": "differ",
    "n_undecided_right": "right of the undecided",
}
ERRORS = {
    "collection": "collection",
    "system": "system",
    "outcome": "outcome",
    "n": "n",
    "n_error": "with a failed pass",
    "n_judged": "judged",
    "all_found_by_filing_pass": "all passages found by the filing pass",
    "all_found": "by any pass",
    "none_found": "none by any",
    "right_in_another_pass": "right in another pass",
    "right_turned_back": "a right answer turned back",
    "turned_back_counted": "a turned-back answer counted",
}
COST = {
    "collection": "collection",
    "system": "system",
    "pass": "pass",
    "n": "n",
    "n_missing": "missing",
    "n_skipped": "skipped",
    "n_error": "errors",
} | {name: name.replace("_", " ") for name in QUANTITIES}
LENGTH = {
    "collection": "collection",
    "system": "system",
    "measure": "measure",
    "n": "n",
    "n_missing": "missing",
    "n_no_relevant": "without relevant",
    "n_short": "PG-1 short",
    "n_still_short": "still short when padded",
    **{run: run for run in RUNS},
    "gain": "PG-2 - PG-1",
    "gain_cut": "PG-2 cut - PG-1",
    "gain_padded": "PG-2 - PG-1 padded",
    "share_cut": "of the gain by length, cut",
    "share_padded": "of the gain by length, padded",
}

PASSES = ["n", "n_missing", "n_skipped"]
"""Counts of the table of cost that make up the questions asked."""


def describe_labels(near: float) -> list[str]:
    """Return what the columns of the table of labels mean, in sentences; ``near`` as in the configuration."""
    return [
        "Answers: distinct ones that passes submitted and runs file, after normalisation. Decided: labels by this "
        "source, a review before a match with the gold answers, a match before a model's judgement.",
        f"Undecided: no match, but a token F1 of at least {near:g} with a gold answer, or one holds the other; counted "
        "as wrong until a review or a judge decides. Unsupported: the corpus holds no support, so that any answer is "
        "wrong.",
        "Compared: answers of which this source says something too where another decided; differ: it says the "
        "opposite (conflicts.csv lists them). Right of the undecided: undecided answers that this source calls right; "
        "they are not among those compared. log: what the log of an import says of its own answers, which decides "
        "nothing.",
    ]


def answers_of(scores: pd.DataFrame) -> dict[str, int]:
    """Return the answers by collection that signals were taken from, for captions."""
    answers = scores["n"] + scores["n_missing"]
    return {name: int(rows.max()) for name, rows in answers.groupby(scores["collection"], sort=False)}


def describe_signals(run: str) -> list[str]:
    """Return what the columns of the table of signals mean, in sentences, for the studied run."""
    return [
        f"Answers of the run {run}; refusals are left out.",
        "AUROC: how often a right answer has more of the signal than a wrong one, ties half; as found: below .5, more "
        "of it goes with wrong answers. Surer by: what was expected. Missing: answers whose traces lack what it reads, "
        "or for which it is not defined. Values: different ones.",
        "Intervals leave out the resamples without a right or without a wrong answer. With few of either they are too "
        "narrow; p is the two-sided Mann-Whitney test, adjusted for all signals of a system (Benjamini and Hochberg).",
        "Published: of the paper, on the first-pass answers of 64 questions (6 wrong, 58 right), as printed; it counts "
        "long turns as a sign of wrong answers, so that its value stands beside 1 less ours.",
    ]


def read_errors(path: str | Path) -> pd.DataFrame:
    """Return an error analysis from its file, as `analyse_errors` made it, with its collection and system."""
    text = dict.fromkeys(("collection", "system", "qid", "type", "answer"), object)
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])


def summarise_errors(analyses: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return one row a system and outcome, the columns of ``ERRORS``."""
    tables = []
    for rows in analyses:
        table = count_errors(rows)
        table.insert(0, "collection", rows["collection"].iloc[0])
        table.insert(1, "system", rows["system"].iloc[0])
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def describe_errors(run: str) -> list[str]:
    """Return what the columns of the table of errors mean, in sentences, for the studied run."""
    return [
        f"Questions by the outcome of their answer in the run {run}.",
        "Judged: questions whose needed passages, and what was retrieved, are known; the next three count these: all "
        "of the needed passages were retrieved by the pass that filed the answer, by all passes together, none by any. "
        "A later pass searches without the passages that earlier ones recorded.",
        "Right in another pass: a pass other than the filing one submitted a right answer, turned back or not. A "
        "turned-back answer counted: the filed answer had been turned back by the gate in some pass.",
    ]


def read_costs(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return the costs of systems below one another, the name of a pass as text."""
    text = dict.fromkeys(("collection", "system", "pass"), object)
    return pd.concat([pd.read_csv(path, dtype=text) for path in paths], ignore_index=True)


def asked_of(table: pd.DataFrame, parts: Sequence[str] = ("n",)) -> dict[str, int]:
    """Return the questions asked by collection, for captions: the sum of the parts in a pass, or over the outcomes."""
    sums = table[list(parts)].sum(axis=1)
    keys = [table["collection"], table["system"]]
    one_system = sums.groupby(keys, sort=False)
    asked = one_system.max() if len(parts) > 1 else one_system.sum()
    return {name: int(rows.max()) for name, rows in asked.groupby(level="collection", sort=False)}


def describe_cost() -> list[str]:
    """Return what the columns of the table of cost mean, in sentences."""
    return [
        f"Means over the n questions that a pass ran on, those with a fault among them; {RUN}: the sum over all passes "
        "of a question. Skipped: the pass was not wanted. A dash: not all traces tell it.",
        "Model calls: of readers and chat models; cached calls, those of them that were replayed, are counted with "
        "what they took when they were made. Tool calls hold the rejected ones. Seconds: of models and indexes.",
    ]


def summarise_lengths(
    scores: pd.DataFrame, measures: Sequence[str], no_relevant: str, resampling: Mapping[str, Any]
) -> pd.DataFrame:
    """Return one row a system and measure, the columns of ``LENGTH`` with intervals.

    Parameters
    ----------
    scores
        One row a system, run and question.
    resampling
        The block ``bootstrap`` of the configuration.
    """
    settings = (resampling["resamples"], resampling["level"], resampling["seed"], no_relevant)
    tables = []
    for (collection, system), rows in scores.groupby(["collection", "system"], sort=False):
        table = compare_lengths(rows, measures, *settings)
        table.insert(0, "collection", collection)
        table.insert(1, "system", system)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def describe_lengths() -> list[str]:
    """Return what the columns of the table of lengths mean, in sentences."""
    return [
        "PG-2 cut: each ranking cut to the length of PG-1's; PG-1 padded: each short one filled to PG-2's length with "
        "the next passages of the first pass's own searches.",
        "Of the gain by length: its part that is gone at one length; a dash unless the gain's interval is above 0.",
        "Published: PG-1 was short of 20 on 37 of 64 questions, and close to half of PG-2's gain (nDCG@20 .0709, Q@20 "
        ".0905) came from length.",
    ]
