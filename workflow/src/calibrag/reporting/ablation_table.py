"""The table of ablations: what is printed of it, and what its caption says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

HEADINGS = {
    "collection": "collection",
    "system": "system",
    "base": "starts from",
    "run": "run",
    "measure": "measure",
    "n": "n",
    "n_missing": "missing",
    "value_base": "base's",
    "value": "its own",
    "difference": "difference",
    "p": "p",
    "p_holm": "p, Holm",
    "won": "won",
    "lost": "lost",
    "tied": "tied",
    "d_z": "d_z",
}


def shown(table: pd.DataFrame, compared: Mapping[str, Any], measures: Sequence[str]) -> pd.DataFrame:
    """Return the rows that are printed: of the passage and the answer run that are compared by type of question.

    Of the measures of rankings the first alone is printed.

    Parameters
    ----------
    compared
        The block ``evaluation.compared`` of the configuration.
    measures
        Those of rankings, ``evaluation.measures``.
    """
    runs = [compared[kind]["by_type"] for kind in ("passages", "answers")]
    return table[table["run"].isin(runs) & ~table["measure"].isin(measures[1:])]


def describe(table: pd.DataFrame, printed: pd.DataFrame, tests: Mapping[str, Any]) -> list[str]:
    """Return how the table was made, in sentences; ``tests`` is the block ``evaluation.significance``."""
    return [
        "Difference: the system less the one that it starts from, on the same questions; won: questions on which it "
        "does better. A difference of 0 with all questions tied: the two did the same.",
        f"p: {tests['trials']:,} random exchanges within questions (seed {tests['seed']}), of scores for passages, of "
        f"whole answers (right, confidence) for answers; 0 is less than 1 / {tests['trials']:,}. p, Holm: corrected "
        "for all systems of a collection, by run and measure.",
        f"The CSV file has {len(table):,} rows, of which {len(printed):,} are printed.",
    ]
