"""The reader's choices scored beside cheap ones from the same candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from calibrag.errors import CalibragError
from calibrag.evaluation import answers, bootstrap
from calibrag.records import Question

CHOOSERS = ("reader", "first candidate", "random candidate", "best candidate")
"""``first``: in reading order. ``random``: the expectation over the candidates. ``best``: an oracle, the ceiling."""


def score_readings(predictions: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """Return one row a supported question and chooser: qid, chooser, em, f1; without a candidate both are 0.

    Parameters
    ----------
    predictions
        Columns qid, answer (None where nothing was found) and candidates (lists, in reading order).

    Raises
    ------
    CalibragError
        A question has no prediction.
    """
    by_qid = {row["qid"]: row for row in predictions.to_dict("records")}
    rows = []
    for question in questions:
        if not question.supported:
            continue
        if question.qid not in by_qid:
            raise CalibragError(f"question {question.qid} has no prediction of the reader")
        found = by_qid[question.qid]
        candidates = list(found["candidates"])
        scores = np.array([_scores(candidate, question) for candidate in candidates] or [(0.0, 0.0)])
        answer = found["answer"] if candidates else None
        values = (_scores(answer, question), scores[0], scores.mean(axis=0), scores.max(axis=0))
        rows += [
            {"qid": question.qid, "chooser": chooser, "em": float(em), "f1": float(f1)}
            for chooser, (em, f1) in zip(CHOOSERS, values, strict=True)
        ]
    return pd.DataFrame(rows, columns=["qid", "chooser", "em", "f1"])


def summarise_readings(scores: pd.DataFrame, B: int, level: float, seed: int) -> dict[str, float | int]:
    """Return n, and the means of EM and F1 with ``_low`` and ``_high``, over the rows of one chooser."""
    index = bootstrap.resamples(len(scores), B, seed)
    row: dict[str, float | int] = {"n": len(scores)}
    for name in ("em", "f1"):
        estimate = bootstrap.estimate(_mean, index, level, scores[name].to_numpy(float))
        row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row


def _scores(answer: str | None, question: Question) -> tuple[float, float]:
    return float(answers.exact_match(answer, question.answers)), answers.f1(answer, question.answers)


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=-1)
