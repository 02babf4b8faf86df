"""An answer run (AC-1, AC-2 ...) scored a question, then summarised in one row with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap, confidence
from calibrag.evaluation.judging import judge
from calibrag.records import Question
from calibrag.retrieval.runs import Qrels
from calibrag.trace import RunEntry

COLUMNS = {
    "qid": object,
    "type": object,
    "answer": object,
    "right": bool,
    "label": object,
    "em": int,
    "f1": float,
    "confidence": float,
    "refused": bool,
    "missing": bool,
    "error": object,
    "supported": bool,
    "nuggets": int,
    "nugget_precision": float,
}
"""Columns of a scored run with their types; text is of type object, where None stays None."""

MEASURES = ["accuracy", "em", "f1", "r_o", "r_u", "hmr", "acc_hmr", "ob"]


def score_answer_run(
    entries: Sequence[RunEntry], questions: Sequence[Question], errors: Mapping[str, str], qrels: Qrels | None = None
) -> pd.DataFrame:
    """Return one row a question, in the order of the questions, with the columns `COLUMNS`.

    ``right``, ``em`` and ``f1`` are those of `judge`; ``label`` is where the judgement comes from: ``match``. Where the
    corpus holds no support (``supported`` False) every answer is wrong; that a refusal is right there is for the
    measures, which leave it out.

    ``answer`` is None for a refusal and where the run lacks the question (``missing``). ``error`` is the question's
    fault in `errors`, else None. ``confidence`` and ``nugget_precision`` are NaN where the question is missing.

    ``nugget_precision`` is the share of the ``nuggets`` filed that are verified and whose passage is relevant in the
    qrels, 0 where none is filed: an approximation, for R2C2 had people judge every nugget. NaN without qrels.

    Parameters
    ----------
    entries
        The run, at most one entry a question.
    questions
        The questions that the run was asked.
    errors
        qid -> what went wrong, for questions that ended in an error.
    qrels
        Relevant passages, with a grade above 0; None for logs of other systems, which have none.

    Raises
    ------
    CalibragError
        The run answers a question twice, or one that was not asked; or a supported question has no gold answer.
    """
    by_qid = {entry.qid: entry for entry in entries}
    _check_run(entries, by_qid, questions, errors)
    rows = []
    for question in questions:
        entry = by_qid.get(question.qid)
        answer = entry.answer if entry else None
        judged = judge(answer, question)
        rows.append(
            {
                "qid": question.qid,
                "type": question.type,
                "answer": answer,
                "right": judged.right,
                "label": "match" if entry else None,
                "em": judged.em,
                "f1": judged.f1,
                "confidence": entry.confidence if entry else np.nan,
                "refused": entry is not None and answer is None,
                "missing": entry is None,
                "error": errors.get(question.qid),
                "supported": question.supported,
                "nuggets": len(entry.nuggets) if entry else 0,
                "nugget_precision": np.nan if entry is None or qrels is None else nugget_precision(entry, qrels),
            }
        )
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=kind) for name, kind in COLUMNS.items()})


def nugget_precision(entry: RunEntry, qrels: Qrels) -> float:
    """Return the share of an entry's nuggets that are verified and whose passage is relevant; 0 without any.

    "Relevant / returned; unentailed nuggets stay in the denominator; none returned -> 0" (spec/bitem section 6).
    """
    grades = qrels.get(entry.qid, {})
    relevant = [n for n in entry.nuggets if n.verified and not n.retracted and grades.get(n.passage_id, 0) > 0]
    return len(relevant) / len(entry.nuggets) if entry.nuggets else 0.0


def _check_run(entries, by_qid, questions, errors) -> None:
    asked = {question.qid for question in questions}
    if len(by_qid) < len(entries):
        raise CalibragError(f"the run must answer a question once (got {len(entries)} entries of {len(by_qid)})")
    for what, qids in (("run answers", by_qid), ("errors name", errors)):
        if strange := sorted(set(qids) - asked):
            raise CalibragError(f"the {what} {len(strange)} questions that were not asked, such as {strange[0]}")
    for question in questions:
        if question.supported and not question.answers:
            raise CalibragError(f"question {question.qid}: a supported question must have a gold answer (got none)")


def summarise_answer_run(
    per_question: pd.DataFrame, B: int, level: float, seed: int, missing: Literal["present", "wrong"]
) -> dict[str, float | int | None]:
    """Return one row of a table: counts, then each of `MEASURES` with ``_low`` and ``_high``.

    Counts: ``n`` questions that the measures rest on, ``n_asked``, ``n_missing``, ``n_error``, ``n_refused``,
    ``n_right``, ``n_right_refusals``, ``share_no_wrong`` (resamples without a wrong answer, where R_O is 1 for
    free). Measures are None where n is 0.

    A refusal counts as an answer that is not right, with its confidence (see `confidence`). Only on a question
    without support (``supported`` False) it is right, and stays out of n; an answer there is wrong.

    Parameters
    ----------
    per_question
        From `score_answer_run`.
    B, level, seed
        Resamples, share that an interval holds, and seed of the bootstrap over the n questions.
    missing
        ``present``: n counts the questions in the run, as the organisers do. ``wrong``: a question that the run
        lacks counts in n as not right with EM and F1 of 0, and has no part in R_O, R_U and mean confidence.
    """
    if missing not in ("present", "wrong"):
        raise ValueError(f"missing must be 'present' or 'wrong' (got {missing!r})")
    right_refusal = per_question["refused"] & ~per_question["supported"]
    counted = per_question[~right_refusal & ((missing == "wrong") | ~per_question["missing"])]
    row: dict[str, float | int | None] = {
        "n": len(counted),
        "n_asked": len(per_question),
        "n_missing": int(per_question["missing"].sum()),
        "n_error": int(per_question["error"].notna().sum()),
        "n_refused": int(per_question["refused"].sum()),
        "n_right": int(counted["right"].sum()),
        "n_right_refusals": int(right_refusal.sum()),
    }
    if counted.empty:
        row["share_no_wrong"] = None
        return row | dict.fromkeys(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high"))
    stated, right, filed = columns(counted)
    confidence.check(stated, right, filed)
    index = bootstrap.resamples(len(counted), B, seed)
    row["share_no_wrong"] = bootstrap.share_without_wrong(right, index)
    for name, estimate in _estimates(counted, stated, right, filed, index, level).items():
        row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row


def columns(per_question: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return confidence (NaN where missing), right and filed, as `confidence` and `bootstrap` take them."""
    stated = per_question["confidence"].to_numpy(float)
    return stated, per_question["right"].to_numpy(bool), ~per_question["missing"].to_numpy(bool)


def _estimates(counted, stated, right, filed, index, level) -> dict[str, bootstrap.Interval]:
    """Return every measure with its interval, the resampled arrays of the HMR family gathered once."""

    def family(*arrays):
        return np.stack(list(confidence.measures(*arrays).values()), axis=-1)

    values = confidence.measures(stated, right, filed)
    replicated = bootstrap.replicates(family, index, stated, right, filed)
    estimates = {
        name: bootstrap.Interval(float(value), *bootstrap.interval(replicated[:, column], level))
        for column, (name, value) in enumerate(values.items())
    }
    for name in ("em", "f1"):
        estimates[name] = bootstrap.estimate(_mean, index, level, counted[name].to_numpy(float))
    return {name: estimates[name] for name in MEASURES}


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=-1)
