"""An answer run (AC-1, AC-2 ...) scored by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import answers
from calibrag.records import Question
from calibrag.trace import RunEntry

COLUMNS = {
    "qid": object,
    "answer": object,
    "right": bool,
    "em": int,
    "f1": float,
    "confidence": float,
    "refused": bool,
    "missing": bool,
    "error": object,
    "supported": bool,
}
"""Columns of a scored run with their types; text is of type object, where None stays None."""


def score_answer_run(
    entries: Sequence[RunEntry], questions: Sequence[Question], errors: Mapping[str, str]
) -> pd.DataFrame:
    """Return one row a question, in the order of the questions, with the columns `COLUMNS`.

    ``right`` is `answers.is_right`: a gold answer matches officially or under the grouping key. ``em`` and
    ``f1`` are official. ``answer`` is None for a refusal and where the run lacks the question (``missing``);
    ``confidence`` is NaN only where it is missing. ``error`` is the question's fault in `errors`, else None.

    Parameters
    ----------
    entries
        The run, at most one entry a question.
    questions
        The questions that the run was asked.
    errors
        qid -> what went wrong, for questions that ended in an error.

    Raises
    ------
    CalibragError
        The run answers a question twice, or one that was not asked; or a question wants a set of answers, or
        has no gold answer, which is not scored here.
    """
    by_qid = {entry.qid: entry for entry in entries}
    _check_run(entries, by_qid, questions, errors)
    rows = []
    for question in questions:
        entry = by_qid.get(question.qid)
        answer = entry.answer if entry else None
        gold = question.answers if question.supported else []
        rows.append(
            {
                "qid": question.qid,
                "answer": answer,
                "right": answers.is_right(answer, gold),
                "em": answers.exact_match(answer, gold),
                "f1": answers.f1(answer, gold),
                "confidence": entry.confidence if entry else np.nan,
                "refused": entry is not None and answer is None,
                "missing": entry is None,
                "error": errors.get(question.qid),
                "supported": question.supported,
            }
        )
    return pd.DataFrame({name: pd.Series([row[name] for row in rows], dtype=kind) for name, kind in COLUMNS.items()})


def _check_run(entries, by_qid, questions, errors) -> None:
    asked = {question.qid for question in questions}
    if len(by_qid) < len(entries):
        raise CalibragError(f"the run must answer a question once (got {len(entries)} entries of {len(by_qid)})")
    for what, qids in (("run answers", by_qid), ("errors name", errors)):
        if strange := sorted(set(qids) - asked):
            raise CalibragError(f"the {what} {len(strange)} questions that were not asked, such as {strange[0]}")
    for question in questions:
        if question.answer_kind == "set":
            raise CalibragError(f"question {question.qid}: answer_kind must be 'single' to be scored (got 'set')")
        if question.supported and not question.answers:
            raise CalibragError(f"question {question.qid}: a supported question must have a gold answer (got none)")
