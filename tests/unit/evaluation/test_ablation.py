"""Ablations: the same questions, the system less its base, with a test and an interval for each measure."""

import numpy as np
import pandas as pd
import pytest
from gold_labels import gold_labels

from calibrag.errors import CalibragError
from calibrag.evaluation.ablation import COLUMNS, adjust, compare_answers, compare_passages
from calibrag.evaluation.answer_runs import score_answer_runs
from calibrag.evaluation.answer_significance import Settings
from calibrag.records import Question
from calibrag.trace import RunEntry

SETTINGS = Settings(2000, 0.95, 13, 4096, 17, "present")
QUESTIONS = [Question(qid=f"q{n}", text="?", answers=["yes"]) for n in range(6)]


def answered(said, run="four-pass"):
    """Return a scored run of (right, confidence) pairs, None where the run lacks the question."""
    entries = [
        RunEntry(run=run, qid=question.qid, answer="yes" if right else "no", confidence=confidence, nuggets=[],
                 passage_run="PG-2", origin="rule")
        for question, (right, confidence) in zip(QUESTIONS, said, strict=False)
        if right is not None
    ]  # fmt: skip
    labels = gold_labels(QUESTIONS, entries=entries)
    return score_answer_runs({run: entries}, QUESTIONS, {run: {}}, labels)


def ranked(values, run="PG-2", n_relevant=1):
    return pd.DataFrame(
        {
            "run": run, "qid": [f"q{n}" for n in range(len(values))], "nDCG@20": values, "n_relevant": n_relevant,
            "length": 20, "n_found": 1, "missing": False,
        }
    )  # fmt: skip


def test_passages_are_compared_question_by_question_whatever_their_order():
    base, ablated = ranked([0.5, 0.5, 0.5, 1.0]), ranked([0.4, 0.2, 0.5, 0.3])
    table = compare_passages(ablated.iloc[::-1], base, ["PG-2"], ["nDCG@20"], "zero", SETTINGS)
    assert list(table.columns) == list(COLUMNS)
    row = table.iloc[0]
    assert (row["run"], row["measure"], row["n"], row["n_missing"]) == ("PG-2", "nDCG@20", 4, 0)
    assert row["value_base"] == pytest.approx(0.625) and row["value"] == pytest.approx(0.35)
    assert row["difference"] == pytest.approx(-0.275)
    assert row["difference_low"] < -0.275 < row["difference_high"] <= 0
    assert (row["won"], row["lost"], row["tied"]) == (0, 3, 1)
    # of the 16 changes of sign, the tie's ones count twice: only all minus and all plus reach .275
    assert row["p"] == pytest.approx(2 / 8, abs=0.03)


def test_a_question_that_one_of_them_was_not_asked_is_left_out():
    table = compare_passages(ranked([0.4, 0.2]), ranked([0.5, 0.5, 0.9]), ["PG-2"], ["nDCG@20"], "zero", SETTINGS)
    assert table["n"][0] == 2 and table["value_base"][0] == 0.5


def test_questions_without_relevant_passages_score_zero_or_are_left_out():
    ablated, base = (ranked(values, n_relevant=[1, 0]) for values in ([0.4, np.nan], [0.6, np.nan]))
    zero, left_out = (
        compare_passages(ablated, base, ["PG-2"], ["nDCG@20"], kind, SETTINGS).iloc[0] for kind in ("zero", "leave_out")
    )
    assert (zero["n"], zero["difference"]) == (2, pytest.approx(-0.1))
    assert (left_out["n"], left_out["difference"]) == (1, pytest.approx(-0.2))
    none = compare_passages(*[ranked([np.nan], n_relevant=0)] * 2, ["PG-2"], ["nDCG@20"], "leave_out", SETTINGS).iloc[0]
    assert none["n"] == 0 and np.isnan(none["difference"]) and np.isnan(none["p"])


def test_a_passage_run_that_a_system_lacks_is_refused():
    with pytest.raises(CalibragError, match="must name runs of PG-2 .got PG-7."):
        compare_passages(ranked([0.4]), ranked([0.5]), ["PG-7"], ["nDCG@20"], "zero", SETTINGS)


def test_answers_are_compared_by_measures_that_are_no_means():
    base = answered([(True, 1.0), (True, 1.0), (False, 0.0), (False, 0.0)])
    ablated = answered([(True, 0.5), (True, 0.5), (False, 0.5), (True, 0.5)])
    table = compare_answers(ablated, base, ["four-pass", "AC-1"], ["accuracy", "HMR"], SETTINGS).set_index("measure")
    # AC-1 is a run of neither
    assert set(table["run"]) == {"four-pass"}
    # two questions that both lack are missing
    assert (table["n"] == 4).all() and (table["n_missing"] == 2).all()
    assert (table.loc["accuracy", "value_base"], table.loc["accuracy", "value"]) == (0.5, 0.75)
    assert (table.loc["HMR", "value_base"], table.loc["HMR", "value"]) == (1.0, 0.5)
    assert table.loc["HMR", "difference"] == -0.5
    assert tuple(table.loc["accuracy", ["won", "lost", "tied"]]) == (1, 0, 3)
    assert table.loc["HMR", ["won", "lost", "tied", "d_z"]].isna().all()
    # one question differs: any exchange is as large
    assert table.loc["accuracy", "p"] == 1.0


def test_a_system_that_does_what_its_base_does_differs_by_nothing():
    same = answered([(True, 0.9), (False, 0.2), (True, 0.4)])
    table = compare_answers(same, same.copy(), ["four-pass"], ["accuracy", "accHMR"], SETTINGS)
    assert (table["difference"] == 0).all() and (table["p"] == 1).all()
    assert (table["difference_low"] == 0).all() and (table["difference_high"] == 0).all()


def test_p_values_are_corrected_for_the_systems_of_a_collection():
    table = pd.DataFrame(
        {
            "collection": ["a", "a", "b"], "system": ["x", "y", "x"], "run": "four-pass", "measure": "HMR",
            "p": [0.01, 0.04, 0.04], "n": 60, "n_missing": 0, "won": [6.0, None, 1.0], "lost": 0, "tied": 1,
        }
    )  # fmt: skip
    adjusted = adjust(table)
    assert list(adjusted["p_holm"]) == pytest.approx([0.02, 0.04, 0.04])
    assert list(adjusted["won"]) == [6, pd.NA, 1]
    assert list(adjusted.columns).index("p_holm") == list(adjusted.columns).index("p") + 1
