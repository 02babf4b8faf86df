"""How well signals tell right answers from wrong ones, by hand and by scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from calibrag.confidence.discrimination import SCORES, score_signals
from calibrag.evaluation import bootstrap


def frame(right, **signals):
    n = len(right)
    return pd.DataFrame(
        {"qid": [str(i) for i in range(n)], "group": "g", "answer": "a", "right": right, "confidence": 0.5} | signals
    )


def scored(right, values, name="searches", B=200):
    return score_signals(frame(right, **{name: np.asarray(values, float)}), B, 0.95, 1).iloc[0]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30).filter(
        lambda rows: len({right for _, right in rows}) == 2
    ),
    st.randoms(use_true_random=False),
)
def test_auroc_and_its_interval_are_scikit_learns_in_any_order(rows, rng):
    values, right = map(np.array, zip(*rows, strict=True))
    row = scored(right, values, B=20)
    assert row["auroc"] == pytest.approx(roc_auc_score(right, values))
    drawn = [each for each in bootstrap.resamples(len(rows), 20, 1) if len(set(right[each])) == 2]
    assert row["n_undefined"] == 20 - len(drawn)
    if drawn:
        replicates = [roc_auc_score(right[each], values[each]) for each in drawn]
        assert row[["auroc_low", "auroc_high"]].tolist() == pytest.approx(bootstrap.interval(replicates, 0.95))
    order = rng.sample(range(len(rows)), len(rows))
    assert scored(right[order], values[order], B=20)["auroc"] == row["auroc"]


def test_the_direction_is_as_found_and_missing_answers_are_left_out_and_counted():
    row = scored([True, True, False, False, True], [1, 2, 3, 4, np.nan])
    assert (row["n"], row["n_missing"], row["n_right"], row["n_values"]) == (4, 1, 2, 4)
    assert row["auroc"] == row["auroc_low"] == 0
    assert row["surer"] == "less"
    # 2 of the 6 ways to choose the right ones are as far from the middle
    assert row["p"] == pytest.approx(2 / 6)


def test_resamples_of_one_class_are_counted_and_left_out_of_the_interval():
    right = [True, False, False]
    row = scored(right, [2, 1, 3])
    drawn = np.array(right)[bootstrap.resamples(3, 200, 1)]
    assert row["n_undefined"] == sum(len(set(each)) == 1 for each in drawn) > 0
    assert 0 <= row["auroc_low"] <= row["auroc_high"] <= 1


@pytest.mark.parametrize("right", [[True] * 3, [False] * 3])
def test_without_right_or_wrong_answers_there_is_no_auroc(right):
    row = scored(right, [1, 2, 3])
    assert row[["auroc", "auroc_low", "auroc_high", "p", "p_adjusted"]].isna().all()


def test_a_signal_that_is_missing_everywhere_has_a_row_without_numbers():
    row = scored([True, False], [np.nan, np.nan])
    assert (row["n"], row["n_missing"]) == (0, 2)
    assert np.isnan(row["auroc"])


def test_a_signal_that_does_not_vary_has_half_and_no_test():
    row = scored([True, False, True, False], [1, 1, 1, 1])
    assert (row["auroc"], row["n_values"]) == (0.5, 1)
    assert np.isnan(row["p"])


def test_p_is_adjusted_for_the_signals_that_were_tested():
    rng = np.random.default_rng(0)
    right = np.arange(40) % 2 == 0
    table = frame(right, searches=right + rng.random(40), tool_calls=rng.random(40), turns=np.ones(40))
    scores = score_signals(table, 100, 0.95, 1).set_index("signal")
    p = scores["p"]
    # two tests: the smaller p doubles, the larger stays
    assert scores["p_adjusted"]["searches"] == pytest.approx(2 * p["searches"])
    assert scores["p_adjusted"]["tool_calls"] == pytest.approx(p["tool_calls"])
    assert np.isnan(scores["p_adjusted"]["turns"])
    assert scores["published"]["tool_calls"] == 0.586


def test_permuted_labels_leave_no_signal():
    rng = np.random.default_rng(3)
    right = rng.random(400) < 0.4
    strong = frame(right, searches=right + rng.normal(size=400))
    assert score_signals(strong, 100, 0.95, 1)["auroc"][0] > 0.7
    means = [score_signals(strong.assign(right=rng.permutation(right)), 100, 0.95, 1)["auroc"][0] for _ in range(50)]
    assert np.mean(means) == pytest.approx(0.5, abs=0.015)


def test_a_table_without_answers_has_no_numbers():
    scores = score_signals(frame([], searches=[]), 100, 0.95, 1)
    assert list(scores.columns) == SCORES
    assert scores["n"].tolist() == [0]
