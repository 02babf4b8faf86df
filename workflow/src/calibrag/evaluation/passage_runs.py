"""Rankings of passages (PG-1, a retriever ...) scored a question, then summarised with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap, retrieval
from calibrag.retrieval.runs import Qrels, Rankings


def score_rankings(
    runs: Mapping[str, Rankings], qrels: Qrels, measures: Sequence[str], qids: Sequence[str]
) -> pd.DataFrame:
    """Return one row a run and question: run, qid, a column a measure, n_relevant, length, n_found, missing.

    A measure is NaN where ``n_relevant`` is 0, and 0 where the run lacks the question. ``length`` counts the
    passages that the run ranks, 0 where it lacks the question; ``n_found`` those of them that are relevant.

    Parameters
    ----------
    runs
        Name -> run, such as a retriever's ranking or PG-1.
    measures
        Names such as ``nDCG@20``; each becomes a column.
    qids
        The questions that the runs were asked, in the order wanted.

    Raises
    ------
    CalibragError
        A run ranks passages for a question that was not asked.
    """
    for name, run in runs.items():
        if strange := sorted(set(run) - set(qids)):
            raise CalibragError(f"{name} ranks {len(strange)} questions that were not asked, such as {strange[0]}")
    frame, _ = retrieval.per_question(qrels, runs, measures, qids)
    relevant = {qid: {passage for passage, grade in grades.items() if grade > 0} for qid, grades in qrels.items()}
    frame["n_relevant"] = [len(relevant.get(qid, ())) for qid in frame["qid"]]
    ranked = [runs[name].get(qid, ()) for name, qid in zip(frame["run"], frame["qid"], strict=True)]
    frame["length"] = [len(passages) for passages in ranked]
    frame["n_found"] = [
        len(relevant.get(qid, set()).intersection(passages)) for qid, passages in zip(frame["qid"], ranked, strict=True)
    ]
    return frame.assign(missing=frame["length"] == 0)


def summarise_ranking(
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
        The rows of one run, from `score_rankings`.
    measures
        The columns to summarise.
    B, level, seed
        Resamples, share that an interval holds, and seed of the bootstrap over the n questions.
    no_relevant
        A question without a relevant passage scores 0 (``zero``, as NTCIR) or is left out (``leave_out``).
    """
    counted = counted_questions(per_question, measures, no_relevant)
    row: dict[str, float | int | None] = {
        "n": len(counted),
        "n_asked": len(per_question),
        "n_missing": int(per_question["missing"].sum()),
        "n_no_relevant": int((per_question["n_relevant"] == 0).sum()),
        "mean_length": float(per_question["length"].mean()) if len(per_question) else None,
    }
    if counted.empty:
        return row | dict.fromkeys(f"{name}{end}" for name in measures for end in ("", "_low", "_high"))
    index = bootstrap.resamples(len(counted), B, seed)
    for name in measures:
        estimate = bootstrap.estimate(bootstrap.mean, index, level, counted[name].to_numpy(float))
        row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row


def counted_questions(
    per_question: pd.DataFrame, measures: Sequence[str], no_relevant: Literal["zero", "leave_out"]
) -> pd.DataFrame:
    """Return the rows that means rest on; see `summarise_ranking` for a question without a relevant passage."""
    if no_relevant not in ("zero", "leave_out"):
        raise ValueError(f"no_relevant must be 'zero' or 'leave_out' (got {no_relevant!r})")
    barren = per_question["n_relevant"] == 0
    if no_relevant == "leave_out":
        return per_question[~barren]
    # only these may be filled: a hole anywhere else must stop the interval
    filled = per_question[list(measures)].where(~barren, 0.0)
    return per_question.assign(**{name: filled[name] for name in measures})
