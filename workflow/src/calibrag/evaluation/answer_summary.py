"""A scored answer run in one row: counts, then the measures with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap, confidence
from calibrag.evaluation.answer_measures import Answers, Measure, replicates

Missing = Literal["present", "wrong"]

ENDS = ("", "_low", "_high", "_undefined")
"""What follows a measure's name in the columns of its value, its interval, and the share of resamples without one."""


def summarise_answer_run(
    per_question: pd.DataFrame, measures: Sequence[Measure], B: int, level: float, seed: int, missing: Missing
) -> dict[str, float | int | None]:
    """Return one row of a table: counts, then each measure with `ENDS`.

    Counts: ``n`` questions that the measures rest on, ``n_asked``, ``n_missing``, ``n_error``, ``n_refused``,
    ``n_right``, ``n_undecided`` answers that count as wrong until somebody decides, ``n_right_refusals``,
    ``n_unsupported`` questions asked, ``share_no_wrong`` (resamples without a wrong answer, where R_O is 1 for free)
    and ``share_no_right`` (likewise, R_U). A measure is None where it is undefined, as all are where n is 0; it
    has no interval where n is 1. ``_undefined`` is the share of resamples in which it is, as AUROC is in those of right
    answers alone: the interval is made of the others.

    A refusal counts as an answer that is not right, with its confidence (see `confidence`). Only on a question
    without support (``supported`` False) it is right, and stays out of n; an answer there is wrong.

    Parameters
    ----------
    per_question
        One run, from `answer_runs.score_answer_run`.
    B, level, seed
        Resamples, share that an interval holds, and seed of the bootstrap over the n questions.
    missing
        ``present``: n counts the questions in the run, as the organisers do. ``wrong``: a question that the run
        lacks counts in n as not right with EM and F1 of 0, and has no part where a confidence is needed.
    """
    answers = answers_of(per_question, missing)
    row: dict[str, float | int | None] = {
        "n": int(answers.part.sum()),
        "n_asked": len(per_question),
        "n_missing": int(per_question["missing"].sum()),
        "n_error": int(per_question["error"].notna().sum()),
        "n_refused": int(per_question["refused"].sum()),
        "n_right": int(answers.totals.right),
        "n_undecided": int((per_question["label"] == "undecided").sum()),
        "n_right_refusals": int((per_question["refused"] & ~per_question["supported"]).sum()),
        "n_unsupported": int((~per_question["supported"]).sum()),
    }
    counted = counted_only(answers)
    values, replicates, free = _replicated(counted, measures, B, seed) if row["n"] else ({}, {}, (None, None))
    row |= dict(zip(("share_no_wrong", "share_no_right"), free, strict=True))
    for measure in measures:
        row |= _cells(measure, values.get(measure, np.nan), replicates.get(measure, np.array([np.nan])), level)
    if row["n"] == 1:
        # one question says nothing of how others vary: resampled it is always itself
        row |= {f"{measure}{end}": None for measure in measures for end in ENDS[1:]}
    return row


def answers_of(per_question: pd.DataFrame, missing: Missing) -> Answers:
    """Return the answers of a scored run, in the order of its rows; see `summarise_answer_run` for which count.

    Raises
    ------
    CalibragError
        The run has a nugget precision for some of its questions and none for others.
    """
    if missing not in ("present", "wrong"):
        raise ValueError(f"missing must be 'present' or 'wrong' (got {missing!r})")
    absent, supported = (per_question[name].to_numpy(bool) for name in ("missing", "supported"))
    right_refusal = per_question["refused"].to_numpy(bool) & ~supported
    counted = ~right_refusal & ((missing == "wrong") | ~absent)
    stated = per_question["confidence"].to_numpy(float)
    right = per_question["right"].to_numpy(bool) & supported
    if len(right):
        confidence.check(stated, right, ~absent)
    em, f1 = (per_question[name].to_numpy(float) for name in ("em", "f1"))
    precision = _nugget_precision(per_question, absent, counted)
    return Answers(stated, right, ~absent, counted, supported, em, f1, precision)


def _nugget_precision(per_question: pd.DataFrame, absent: np.ndarray, counted: np.ndarray) -> np.ndarray:
    found = per_question["nugget_precision"].to_numpy(float)
    holes = np.isnan(found) & counted & ~absent
    if holes.any() and not holes[counted & ~absent].all():
        of = per_question["qid"][holes].iloc[0]
        raise CalibragError(f"nugget_precision must be given for all questions of a run or for none (missing for {of})")
    # a run that files no nuggets by design has no precision, and one that does has 0 for what it lacks
    return found if holes.any() else np.where(absent, 0.0, found)


def counted_only(answers: Answers) -> Answers:
    """Return the answers without the questions that do not count, so that resamples are drawn of the others."""
    names = ("confidence", "right", "filed", "supported", "em", "f1", "nugget_precision")
    return Answers(**{name: getattr(answers, name)[answers.part] for name in names})


def _replicated(answers: Answers, measures: Sequence[Measure], B: int, seed: int) -> tuple[dict, dict, tuple]:
    """Return the measures, their replicates, and the shares of resamples without a wrong and without a right answer."""
    index = bootstrap.resamples(len(answers.right), B, seed)
    values = {measure: float(measure.of(answers)) for measure in measures}
    free = (lambda drawn: drawn.totals.wrong == 0, lambda drawn: drawn.totals.right == 0)
    *found, no_wrong, no_right = replicates([*(measure.of for measure in measures), *free], answers, index)
    return values, dict(zip(measures, found, strict=True)), (float(no_wrong.mean()), float(no_right.mean()))


def _cells(measure: Measure, value: float, replicates: np.ndarray, level: float) -> dict[str, float | None]:
    if np.isnan(value):
        return dict.fromkeys(f"{measure}{end}" for end in ENDS)
    cells = (value, *bootstrap.interval_where_defined(replicates, level))
    return dict(zip((f"{measure}{end}" for end in ENDS), cells, strict=True))
