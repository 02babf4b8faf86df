"""A system against the one that it starts from: what the part that it lacks is worth (spec/bitem section 7, 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap
from calibrag.evaluation.answer_measures import parse_measures
from calibrag.evaluation.answer_significance import Settings, compare_answer_runs, holm
from calibrag.evaluation.passage_runs import counted_questions
from calibrag.evaluation.significance import compare_runs

RUNS = ("reference", "by_type")
"""Keys of ``evaluation.compared`` that name the runs which are compared between two systems."""

COLUMNS = (
    "run", "measure", "n", "n_missing", "value_base", "value", "difference", "difference_low", "difference_high",
    "difference_undefined", "p", "won", "lost", "tied", "d_z",
)  # fmt: skip
COUNTS = ("n", "n_missing", "won", "lost", "tied")


def compare_passages(
    ablated: pd.DataFrame, base: pd.DataFrame, runs: Sequence[str], measures: Sequence[str], no_relevant: str,
    settings: Settings,
) -> pd.DataFrame:  # fmt: skip
    """Return one row a passage run and measure, the columns `COLUMNS`: the system less its base on the same questions.

    ``p`` is that of the paired randomisation test.

    Parameters
    ----------
    ablated, base
        Passage runs by question, from `passage_runs.score_rankings`.
    runs
        Names of passage runs, such as PG-2.
    no_relevant
        As of `passage_runs.summarise_ranking`.

    Raises
    ------
    CalibragError
        A system lacks a run.
    """
    rows = []
    for run in runs:
        if absent := [frame for frame in (ablated, base) if run not in set(frame["run"])]:
            known = ", ".join(dict.fromkeys(absent[0]["run"]))
            raise CalibragError(f"evaluation.compared.passages must name runs of {known} (got {run})")
        one, two = (counted_questions(_of_run(frame, run), measures, no_relevant) for frame in (ablated, base))
        one, two = _shared(one, two)
        missing = int((one["missing"] | two["missing"]).sum())
        index = bootstrap.resamples(len(one), settings.resamples, settings.bootstrap_seed) if len(one) else None
        for measure in measures:
            row = {"run": run, "measure": measure, "n": len(one), "n_missing": missing}
            if index is not None:
                values = np.stack([one[measure].to_numpy(float), two[measure].to_numpy(float)], axis=1)
                tests = settings.trials, settings.exchange_seed
                [pair] = compare_runs(values, ["ablated", "base"], *tests, index, settings.level).to_dict("records")
                row |= {"value": values[:, 0].mean(), "value_base": values[:, 1].mean(), "p": pair["p_paired"]}
                row |= {name: pair[name] for name in COLUMNS if name.startswith("difference") and name in pair}
                row |= {name: pair[name] for name in ("won", "lost", "tied", "d_z")} | {"difference_undefined": 0.0}
            rows.append(row)
    return _framed(rows)


def compare_answers(
    ablated: pd.DataFrame, base: pd.DataFrame, runs: Sequence[str], measures: Sequence[str], settings: Settings
) -> pd.DataFrame:
    """Return one row an answer run and measure, the columns `COLUMNS`: the system less its base on the same questions.

    ``p`` is that of the pair-exchange test. A run that either system lacks has no rows.

    Parameters
    ----------
    ablated, base
        Answer runs by question, from `answer_runs.score_answer_runs`.
    runs
        Names of answer runs, such as four-pass.
    measures
        Names of answer measures.
    """
    rows = []
    for run in runs:
        one, two = _shared(_of_run(ablated, run), _of_run(base, run))
        if one.empty:
            continue
        pairs = compare_answer_runs({"ablated": one, "base": two}, parse_measures(measures), settings)
        names = {"value_first": "value", "value_second": "value_base", "p_exchange": "p"}
        rows += pairs.rename(columns=names).assign(run=run).to_dict("records")
    return _framed(rows)


def adjust(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with ``p_holm`` after ``p``: corrected for all systems of a collection, by run and measure.

    Parameters
    ----------
    table
        `COLUMNS` and collection, of several systems.
    """
    corrected = table.groupby(["collection", "run", "measure"], sort=False)["p"].transform(lambda p: holm(p.to_numpy()))
    # a column of counts with holes comes from a file as floats
    table = table.astype(dict.fromkeys(COUNTS, "Int64"))
    table.insert(list(table.columns).index("p") + 1, "p_holm", corrected)
    return table


def _of_run(frame: pd.DataFrame, run: str) -> pd.DataFrame:
    return frame[frame["run"] == run].reset_index(drop=True)


def _shared(one: pd.DataFrame, two: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the questions that both have, in the order of the first."""
    one = one[one["qid"].isin(two["qid"])].reset_index(drop=True)
    return one, two.set_index("qid").loc[one["qid"]].reset_index()


def _framed(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype(dict.fromkeys(COUNTS, "Int64"))
