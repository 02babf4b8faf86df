"""The reader's choice against the first candidate, a random one, and the best one there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from calibrag.evaluation import bootstrap
from calibrag.evaluation.answers import exact_match, f1
from calibrag.records import Question

CHOICES: dict[str, Callable[[np.ndarray, float], float]] = {
    "reader": lambda scores, chosen: chosen,
    "first candidate": lambda scores, chosen: scores[0],
    "random candidate": lambda scores, chosen: scores.mean(),
    "best candidate": lambda scores, chosen: scores.max(),
}
"""How a candidate is taken: a function of all candidates' scores and of that of the reader's choice.

The random candidate's score is its expectation, not a draw; the best one's is what no reader of these candidates can
exceed.
"""


def compare_choices(
    predictions: pd.DataFrame, questions: Sequence[Question], B: int, level: float, seed: int
) -> pd.DataFrame:
    """Return one row a choice: n, n_without_candidate, EM and F1 with percentile bootstrap intervals over questions.

    Parameters
    ----------
    predictions
        Columns ``qid``, ``answer`` and ``candidates``, one row a question; a question without candidates scores 0.
    """
    gold: Mapping[str, list[str]] = {question.qid: question.answers for question in questions}
    index = bootstrap.resamples(len(predictions), B, seed)
    rows = []
    for choice, take in CHOICES.items():
        row: dict[str, object] = {
            "choice": choice,
            "n": len(predictions),
            "n_without_candidate": int(sum(not candidates for candidates in predictions["candidates"])),
        }
        for name, measure in (("em", exact_match), ("f1", f1)):
            values = [_score(take, measure, row, gold[row.qid]) for row in predictions.itertuples()]
            estimate = bootstrap.estimate(bootstrap.mean, index, level, np.array(values))
            row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        rows.append(row)
    return pd.DataFrame(rows)


def _score(take: Callable, measure: Callable, row, answers: Sequence[str]) -> float:
    if not row.candidates:
        return 0.0
    scores = np.array([measure(candidate, answers) for candidate in row.candidates], float)
    return float(take(scores, measure(row.answer, answers)))
