"""How much of the gain of PG-2 over PG-1 is the length of its rankings, from measures by question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from calibrag.evaluation import bootstrap
from calibrag.evaluation.passage_runs import counted_questions

COMPARED = {
    "gain": ("PG-2", "PG-1"),
    "gain_cut": ("PG-2 cut", "PG-1"),
    "gain_padded": ("PG-2", "PG-1 padded"),
}
"""Differences of means: as filed; at PG-1's length; at PG-2's."""

RUNS = ("PG-1", "PG-2", "PG-2 cut", "PG-1 padded")


def compare_lengths(
    scores: pd.DataFrame,
    measures: Sequence[str],
    B: int,
    level: float,
    seed: int,
    no_relevant: Literal["zero", "leave_out"],
) -> pd.DataFrame:
    """Return one row a measure: measure, counts, the mean of each run, and each gain with its interval.

    ``n_short`` counts the questions for which PG-1 ranks fewer passages than PG-2, ``n_still_short`` those of them that
    padding did not fill. ``share_cut`` is the part of the gain that is gone when PG-2 is cut to PG-1's length, and
    ``share_padded`` that when PG-1 is padded to PG-2's; they are NaN unless the interval of the gain lies above 0, for
    a part of nothing says nothing. Intervals resample the questions of all runs together.

    Parameters
    ----------
    scores
        One row a run and question, as `passage_runs.score_rankings` makes them, of one system; the runs `RUNS`.
    measures
        Columns of it.
    B, level, seed
        Of the bootstrap over questions.
    no_relevant
        A question without a relevant passage scores 0 (``zero``) or is left out (``leave_out``).
    """
    counted = counted_questions(scores, measures, no_relevant)
    by_run = {run: counted[counted["run"] == run].set_index("qid") for run in RUNS}
    qids = by_run["PG-1"].index
    by_run = {run: rows.loc[qids] for run, rows in by_run.items()}
    lengths = {run: rows["length"] for run, rows in by_run.items()}
    counts = {
        "n": len(qids),
        "n_missing": int((by_run["PG-1"]["missing"] | by_run["PG-2"]["missing"]).sum()),
        "n_no_relevant": int((by_run["PG-1"]["n_relevant"] == 0).sum()),
        "n_short": int((lengths["PG-1"] < lengths["PG-2"]).sum()),
        "n_still_short": int((lengths["PG-1 padded"] < lengths["PG-2"]).sum()),
    }
    if not len(qids):
        return pd.DataFrame([{"measure": measure} | counts for measure in measures])
    index = bootstrap.resamples(len(qids), B, seed)
    return pd.DataFrame([{"measure": each} | counts | _compared(by_run, each, index, level) for each in measures])


def _compared(by_run: dict[str, pd.DataFrame], measure: str, index: np.ndarray, level: float) -> dict[str, float]:
    values = {run: rows[measure].to_numpy(float) for run, rows in by_run.items()}
    row = {run: float(each.mean()) for run, each in values.items()}
    for name, (one, other) in COMPARED.items():
        pair = bootstrap.paired_difference(bootstrap.mean, index, level, (values[one],), (values[other],))
        row |= {name: pair.value, f"{name}_low": pair.low, f"{name}_high": pair.high}
    gained = row["gain_low"] > 0
    for way in ("cut", "padded"):
        row[f"share_{way}"] = 1 - row[f"gain_{way}"] / row["gain"] if gained else np.nan
    return row
