"""An answer run (AC-1, AC-2 ...) scored by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation.judging import judge
from calibrag.evaluation.labels import Labels
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


def score_answer_runs(
    runs: Mapping[str, Sequence[RunEntry]],
    questions: Sequence[Question],
    errors: Mapping[str, Mapping[str, str]],
    labels: Labels,
    qrels: Qrels | None = None,
) -> pd.DataFrame:
    """Return what `score_answer_run` returns for each run, below each other, with the column ``run`` in front.

    Parameters
    ----------
    runs, errors
        Name of a run -> its entries, and what went wrong.
    """
    scores = {run: score_answer_run(entries, questions, errors[run], labels, qrels) for run, entries in runs.items()}
    if not scores:
        return pd.DataFrame(columns=["run", *COLUMNS])
    return pd.concat(scores, names=["run"]).reset_index(level=0).reset_index(drop=True)


def score_answer_run(
    entries: Sequence[RunEntry],
    questions: Sequence[Question],
    errors: Mapping[str, str],
    labels: Labels,
    qrels: Qrels | None = None,
) -> pd.DataFrame:
    """Return one row a question, in the order of the questions, with the columns `COLUMNS`.

    ``right`` and ``label``, the source that decided it, are those of the labels; ``label`` is None for refusals and
    where the question is missing. ``em`` and ``f1`` are official scores against the gold answers. Where the corpus
    holds no support (``supported`` False) every answer is wrong; that a refusal is right there is for the measures,
    which leave it out.

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
    labels
        Which answers are right.
    qrels
        Relevant passages, with a grade above 0; None for logs of other systems, which have none.

    Raises
    ------
    CalibragError
        The run answers a question twice, one that was not asked, or with an answer without a label; or a supported
        question has no gold answer.
    """
    by_qid = {entry.qid: entry for entry in entries}
    _check_run(entries, by_qid, questions, errors)
    rows = []
    for question in questions:
        entry = by_qid.get(question.qid)
        answer = entry.answer if entry else None
        judged = judge(answer, question)
        label = None if answer is None else labels.of(question.qid, answer)
        rows.append(
            {
                "qid": question.qid,
                "type": question.type,
                "answer": answer,
                "right": label is not None and label.right,
                "label": label.source if label else None,
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
