"""From passages by question to the tables of pairs of passage runs, and of passage runs by type of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibrag.evaluation import bootstrap
from calibrag.evaluation.passage_runs import counted_questions
from calibrag.evaluation.significance import EPSILON
from calibrag.records import Question, read_jsonl
from calibrag.reporting.answer_tables import UNTYPED
from calibrag.reporting.summaries import compare_rankings

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
    "won": "won",
    "lost": "lost",
    "tied": "tied",
    "found_first": "relevant passages of first",
    "found_second": "relevant passages of second",
}


def compare_passages(
    scores: pd.DataFrame, measures: Sequence[str], reference: str, no_relevant: str, resampling: Mapping[str, Any],
    tests: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row a collection, measure and pair of passage runs, of one system or two.

    ``first`` and ``second`` are ``system run``; a run comes before the reference, a system before those named earlier.
    The questions are those that all systems of the collection were asked. The other columns are those of
    `summaries.compare_rankings`.

    Parameters
    ----------
    reference
        The run that the others of its system are compared with.
    resampling, tests
        The blocks ``bootstrap`` and ``significance`` of the configuration.
    """
    tables = []
    for _, rows in scores.groupby("collection", sort=False):
        named = rows.assign(name=rows["system"] + " " + rows["run"])
        asked = named.groupby("qid")["name"].nunique()
        shared = named[named["qid"].map(asked) == named["name"].nunique()]
        systems = list(dict.fromkeys(shared["system"]))
        place = pd.DataFrame({"reference": shared["run"] == reference, "system": -shared["system"].map(systems.index)})
        ordered = shared.loc[place.sort_values(["reference", "system"], kind="stable").index]
        tables.append(compare_rankings(ordered, "name", measures, no_relevant, resampling, tests))
    return pd.concat(tables, ignore_index=True)


def comparable(table: pd.DataFrame, scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the pairs that differ in one thing: a system's run and its reference, or a run of a system and of the
    first system of the collection."""
    known = {f"{system} {run}": (system, run) for system, run in zip(scores["system"], scores["run"], strict=True)}
    base = scores.groupby("collection")["system"].first()
    kept = []
    for collection, first, second in zip(table["collection"], table["first"], table["second"], strict=True):
        (one, run), (two, other) = known[first], known[second]
        kept.append(other == reference if one == two else run == other and two == base[collection])
    return table[kept]


def read_types(questions: Mapping[str, str | Path]) -> dict[tuple[str, str], str]:
    """Return (collection, qid) -> the question's type, of collection -> the file of its questions."""
    return {
        (collection, question.qid): question.type or UNTYPED
        for collection, path in questions.items()
        for question in read_jsonl(path, Question)
    }


def compare_types(
    scores: pd.DataFrame, types: Mapping[tuple[str, str], str], measures: Sequence[str], compared: Mapping[str, str],
    no_relevant: str, resampling: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row a collection, system, type of question and measure: the run ``by_type`` less the reference.

    The columns are those of ``TYPES`` and the interval of the difference. ``value_`` are means, ``found_`` the mean
    numbers of relevant passages that a run files for a question, ``won`` the questions on which the first scores
    higher. A system that lacks one of the runs has no rows.

    Parameters
    ----------
    types
        From `read_types`.
    compared
        The block ``compared.passages`` of the configuration.
    """
    counted = counted_questions(scores, measures, no_relevant)
    kinds = [types[key] for key in zip(counted["collection"], counted["qid"], strict=True)]
    first, second = compared["by_type"], compared["reference"]
    rows = []
    groups = counted.assign(type=kinds).groupby(["collection", "system", "type"], sort=True)
    for (collection, system, kind), asked in groups:
        one, two = (asked[asked["run"] == name].set_index("qid") for name in (first, second))
        if one.empty or two.empty:
            continue
        two = two.loc[one.index]
        index = bootstrap.resamples(len(one), resampling["resamples"], resampling["seed"])
        for measure in measures:
            gained = one[measure] - two[measure]
            estimate = bootstrap.estimate(bootstrap.mean, index, resampling["level"], gained.to_numpy(float))
            if len(one) == 1:
                # one question says nothing of how others vary: resampled it is always itself
                estimate = estimate._replace(low=np.nan, high=np.nan)
            rows.append(
                {
                    "collection": collection, "system": system, "type": kind, "measure": measure,
                    "first": first, "second": second,
                    "n": len(one), "n_missing": int((one["missing"] | two["missing"]).sum()),
                    "value_first": one[measure].mean(), "value_second": two[measure].mean(),
                    "difference": estimate.value, "difference_low": estimate.low, "difference_high": estimate.high,
                    "won": int((gained > EPSILON).sum()), "lost": int((gained < -EPSILON).sum()),
                    "tied": int((gained.abs() <= EPSILON).sum()),
                    "found_first": one["n_found"].mean(), "found_second": two["n_found"].mean(),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=[*TYPES, "difference_low", "difference_high"])
