"""A passage run or ranking (PG-1, a retriever ...) scored a question, then summarised with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap, retrieval


def score_passage_run(
    run: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, int]],
    measures: Sequence[str],
    qids: Sequence[str],
) -> pd.DataFrame:
    """Return one row a question: qid, a column a measure, n_relevant, length, missing.

    A measure is NaN where ``n_relevant`` is 0, and 0 where the run lacks the question. ``length`` counts the
    passages that the run ranks, 0 where it lacks the question.

    Parameters
    ----------
    run
        qid -> passage ids, best first; `trec.read_rankings` reads one.
    qrels
        qid -> passage id -> grade; `trec.read_qrels` reads them.
    measures
        Names such as ``nDCG@20``; each becomes a column.
    qids
        The questions that the run was asked, in the order wanted.

    Raises
    ------
    CalibragError
        The run ranks passages for a question that was not asked.
    """
    if strange := sorted(set(run) - set(qids)):
        raise CalibragError(f"the run ranks {len(strange)} questions that were not asked, such as {strange[0]}")
    values, _ = retrieval.per_question(qrels, run, measures, qids)
    frame = values.pivot(index="qid", columns="measure", values="value").reindex(index=qids, columns=measures)
    frame = frame.rename_axis(index="qid", columns=None).reset_index()
    frame["n_relevant"] = [sum(grade > 0 for grade in qrels.get(qid, {}).values()) for qid in qids]
    frame["length"] = [len(run.get(qid, ())) for qid in qids]
    frame["missing"] = [not run.get(qid) for qid in qids]
    return frame


def summarise_passage_run(
    per_question: pd.DataFrame,
    measures: Sequence[str],
    B: int,
    level: float,
    seed: int,
    no_relevant: Literal["zero", "leave_out"],
) -> dict[str, float | int | None]:
    """Return one row of a table: counts, then the mean of each measure with ``_low`` and ``_high``.

    Counts: ``n`` questions that the means rest on, ``n_asked``, ``n_missing``, ``n_no_relevant``, and
    ``mean_length`` of the rankings, over all questions asked. Measures are None where n is 0.

    Parameters
    ----------
    per_question
        From `score_passage_run`.
    measures
        The columns to summarise.
    B, level, seed
        Resamples, share that an interval holds, and seed of the bootstrap over the n questions.
    no_relevant
        A question without a relevant passage scores 0 (``zero``, as NTCIR) or is left out (``leave_out``).
    """
    if no_relevant not in ("zero", "leave_out"):
        raise ValueError(f"no_relevant must be 'zero' or 'leave_out' (got {no_relevant!r})")
    barren = per_question["n_relevant"] == 0
    counted = per_question if no_relevant == "zero" else per_question[~barren]
    row: dict[str, float | int | None] = {
        "n": len(counted),
        "n_asked": len(per_question),
        "n_missing": int(per_question["missing"].sum()),
        "n_no_relevant": int(barren.sum()),
        "mean_length": float(per_question["length"].mean()) if len(per_question) else None,
    }
    if counted.empty:
        return row | dict.fromkeys(f"{name}{end}" for name in measures for end in ("", "_low", "_high"))
    index = bootstrap.resamples(len(counted), B, seed)
    for name in measures:
        # only the barren questions may be filled: a hole anywhere else must stop the interval
        values = counted[name].where(~barren, 0.0).to_numpy(float)
        estimate = bootstrap.estimate(_mean, index, level, values)
        row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=-1)
