"""What the tables of the confidence study say, in sentences; see `findings` for what holds of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from calibrag.evaluation.cost import RUN
from calibrag.reporting.cells import format_number
from calibrag.reporting.findings import interval_of, listed, noise, shown

_EQUAL = 1e-12
_LEVEL = 0.05
_KEYS = ["collection", "system"]
_COSTS = {"searches": "searches", "model_calls": "calls of a model", "tokens": "tokens", "seconds": "seconds"}


def _of_system(table: pd.DataFrame, word: str) -> Callable[[str], str]:
    """Return a function of a system: its name after this word; nothing where the table has one alone."""
    several = table["system"].nunique() > 1
    return lambda system: f" {word} {system}" if several else ""


def signal_sentences(table: pd.DataFrame, digits: int) -> list[str]:
    """Return a sentence a system: how many signals tell right answers from wrong ones, and which tells the most.

    It rests on the tests, corrected for all signals of a system; intervals are too narrow with few answers.
    """
    said, of = [], _of_system(table, "of")
    for (collection, system), rows in table.groupby(_KEYS, sort=False):
        known = rows.dropna(subset=["auroc"])
        if known.empty:
            said.append(f"On {collection} none of the {len(rows)} signals{of(system)} has an AUROC.")
            continue
        telling = known[known["p_adjusted"] < _LEVEL]
        best = (telling if len(telling) else known).assign(far=lambda rows: (rows["auroc"] - 0.5).abs())
        best = best.loc[best["far"].idxmax()]
        with_what = "right" if best["auroc"] >= 0.5 else "wrong"
        of_these = "of these " if len(telling) else ""
        said.append(
            f"On {collection} {len(telling)} of {len(known)} signals{of(system)} tell right answers from wrong ones at "
            f"the level {format_number(_LEVEL, 2)} after correction; {of_these}the farthest from .5 is "
            f"{best['signal'].replace('_', ' ')}, AUROC {shown(*interval_of(best, 'auroc'), digits)} on "
            f"{int(best['n']):,} answers, more of which goes with {with_what} answers."
        )
    return said


def confidence_sentences(table: pd.DataFrame, studied: str, digits: int) -> list[str]:
    """Return a sentence a system: which confidence of the studied run's answers has the best accHMR, beside the rule's.

    Parameters
    ----------
    studied
        The studied run, whose own confidence is the rule.
    """
    said, by = [], _of_system(table, "by")
    for (collection, system), rows in table.groupby(_KEYS, sort=False):
        where = f"On {collection} the answers of {studied}{by(system)}"
        # a source without a rank lacks some of the answers, so that its accHMR is of others
        known = rows.dropna(subset=["accHMR", "rank"]).sort_values("accHMR", ascending=False, kind="stable")
        if known.empty:
            said.append(f"{where} have no accHMR by any confidence.")
            continue
        top = known[known["accHMR"] >= known["accHMR"].iloc[0] - _EQUAL]
        best, rule = top.iloc[0], known[known["source"] == studied]
        value = shown(*interval_of(best, "accHMR"), digits)
        if studied in set(top["source"]):
            others = [name for name in top["source"] if name != studied]
            beside = f", as {listed(others)} do" if others else ""
            said.append(f"{where} have their best accHMR, {value}, by the rule itself{beside}.")
            continue
        told = ""
        if not rule.empty:
            more = interval_of(best, "accHMR_difference")
            told = (
                f"; the rule has {shown(*interval_of(rule.iloc[0], 'accHMR'), digits)}, a difference of "
                f"{shown(*more, digits)}: {noise(more)}"
            )
        said.append(f"{where} have their best accHMR, {value}, by {listed(top['source'])}{told}.")
    return said


def permuted_sentences(table: pd.DataFrame, digits: int) -> list[str]:
    """Return a sentence: what fitted confidence finds in permuted labels, lowest and highest mean."""
    known = table["AUROC_permuted"].dropna()
    if known.empty:
        return []
    ends = [format_number(float(end), digits) for end in (known.min(), known.max())]
    return [
        f"Fitted on permuted labels, confidence has a mean AUROC between {ends[0]} and {ends[1]}; without a leak it is "
        "about .5, and lower where few right answers leave but the base rate."
    ]


def transfer_sentences(table: pd.DataFrame, digits: int) -> list[str]:
    """Return a sentence: how often confidence fitted elsewhere has the lower accHMR, and the largest loss."""
    known = table.dropna(subset=["accHMR_difference"])
    if known.empty:
        return ["No confidence fitted on one collection could be compared on another."]
    losses = known[known["accHMR_difference"] < -_EQUAL]
    beyond = int((losses["accHMR_difference_high"] < 0).sum())
    said = (
        f"Fitted on another collection, confidence has a lower accHMR than within in {len(losses)} of {len(known)} "
        f"cases, beyond noise in {beyond}"
    )
    if losses.empty:
        return [f"{said}."]
    worst = losses.loc[losses["accHMR_difference"].idxmin()]
    return [
        f"{said}; the largest loss is that of {worst['run']} from {worst['fitted_on']} to {worst['tested_on']}, "
        f"{shown(*interval_of(worst, 'accHMR_difference'), digits)}."
    ]


def ablation_sentences(table: pd.DataFrame, measure: str, digits: int) -> list[str]:
    """Return sentences a collection, of the measure of rankings and of accHMR: which systems differ from their base.

    What is said rests on the tests corrected for all systems of a collection, in the run that differs the most.
    """
    said = []
    for wanted in (measure, "accHMR"):
        rows = table[(table["measure"] == wanted) & table["difference"].notna()]
        for (collection, run), found in rows.groupby(["collection", "run"], sort=False):
            beyond = int((found["p_holm"] < _LEVEL).sum())
            row = found.loc[found["difference"].abs().idxmax()]
            largest = (
                f"the largest difference is that of {row['system']}, {shown(*interval_of(row, 'difference'), digits)}"
                f" (p, Holm {format_number(float(row['p_holm']), digits)})"
            )
            if abs(row["difference"]) <= _EQUAL:
                largest = "none of them differs at all"
            said.append(
                f"On {collection} {beyond} of {len(found)} systems differ from their base in {wanted} of {run} at the "
                f"level {format_number(_LEVEL, 2)} after correction; {largest}."
            )
    return said


def label_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence a system: how many labels it has, which sources gave them, and what waits for a review.

    Of what waits is told how much of it another source, such as a log, calls right.
    """
    said, of = [], _of_system(table, "of")
    for (collection, system), rows in table.groupby(_KEYS, sort=False):
        sources = rows[rows["n_decided"] > 0]
        counts = [f"{int(row['n_decided']):,} by {row['source']}" for _, row in sources.iterrows()]
        undecided = int(sources.loc[sources["source"] == "undecided", "n_decided"].sum())
        counts = [count for count in counts if not count.endswith("undecided")]
        called = rows[rows["n_undecided_right"] > 0]
        calls = [f"{row['source']} calls {int(row['n_undecided_right']):,} right" for _, row in called.iterrows()]
        of_these = f" ({listed(calls)})" if calls else ""
        waiting = f"; {undecided:,} wait for a review and count as wrong{of_these}" if undecided else ""
        answers = f"{int(rows['n'].iloc[0]):,} distinct answers{of(system)}"
        said.append(f"On {collection} {answers} have labels: {listed(counts)}{waiting}.")
    return said


def error_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence a system: of its wrong answers, how many another pass had right, and what was retrieved."""
    said, of = [], _of_system(table, "of")
    for (collection, system), rows in table.groupby(_KEYS, sort=False):
        asked = int(rows["n"].sum())
        wrong = rows[rows["outcome"] == "wrong"]
        if set(rows["outcome"]) == {"missing"}:
            said.append(
                f"On {collection} none of the {asked:,} questions{of(system)} has an answer in the studied run."
            )
            continue
        if wrong.empty:
            said.append(f"On {collection} none of the {asked:,} questions got a wrong answer{of(system)}.")
            continue
        row = wrong.iloc[0]
        parts = []
        if pd.notna(row["right_in_another_pass"]):
            parts.append(f"for {int(row['right_in_another_pass']):,} of these another pass had a right one")
        if pd.notna(row["all_found"]) and row["n_judged"]:
            parts.append(
                f"all needed passages were retrieved for {int(row['all_found']):,} of {int(row['n_judged']):,}"
            )
        told = f"; {listed(parts)}" if parts else ""
        said.append(f"On {collection} {int(row['n']):,} of {asked:,} questions got a wrong answer{of(system)}{told}.")
    return said


def cost_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence a system: what a question takes over all passes, of what was recorded."""
    said, by = [], _of_system(table, "by")
    for _, row in table[table["pass"] == RUN].iterrows():
        parts = [
            f"{format_number(float(row[column]), 0 if row[column] >= 100 else 1)} {name}"
            for column, name in _COSTS.items()
            if pd.notna(row[column]) and np.isfinite(row[column])
        ]
        if parts:
            said.append(f"On {row['collection']} a question{by(row['system'])} takes {listed(parts)} on average.")
    return said
