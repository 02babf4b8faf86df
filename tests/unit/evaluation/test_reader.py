"""The reader's choice against cheap ones, by hand."""

import pandas as pd
import pytest

from calibrag.evaluation.reader import compare_choices
from calibrag.records import Question

QUESTIONS = [Question(qid=q, text="?", answers=["Rome"]) for q in "abc"]
PREDICTIONS = pd.DataFrame(
    {
        "qid": ["a", "b", "c"],
        "answer": ["Rome", "Paris", None],
        "candidates": [["Rome", "Bonn"], ["Paris", "Bonn", "the Rome", "Oslo"], []],
    }
)


def test_choices_score_as_worked_by_hand():
    table = compare_choices(PREDICTIONS, QUESTIONS, B=50, level=0.9, seed=1).set_index("choice")
    assert table["em"].to_dict() == pytest.approx(
        {
            "reader": 1 / 3,
            "first candidate": 1 / 3,
            "random candidate": (1 / 2 + 1 / 4) / 3,
            "best candidate": 2 / 3,
        }
    )
    assert (table["n"] == 3).all() and (table["n_without_candidate"] == 1).all()
    assert (table["em_low"] <= table["em"]).all() and (table["em"] <= table["em_high"]).all()


def test_f1_gives_part_credit():
    predictions = pd.DataFrame({"qid": ["a"], "answer": ["old Rome"], "candidates": [["old Rome"]]})
    table = compare_choices(predictions, QUESTIONS, B=10, level=0.9, seed=1).set_index("choice")
    assert table.loc["reader", "em"] == 0
    assert table.loc["reader", "f1"] == pytest.approx(2 / 3)
