"""Folds hold each question once and never part equal questions; what breaks that is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.confidence.fitted_folds import assign_folds, check_folds, splits
from calibrag.errors import LeakError

answers = st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.booleans()), min_size=2, max_size=60).filter(
    lambda rows: len({group for group, _ in rows}) > 1
)


@given(answers, st.integers(2, 6), st.integers(0, 5))
def test_each_answer_has_one_fold_and_groups_stay_whole(rows, folds, seed):
    groups, right = [group for group, _ in rows], np.array([truth for _, truth in rows])
    assigned = assign_folds(groups, right, folds, seed)
    assert set(assigned) == set(range(1, assigned.max() + 1))
    assert 2 <= assigned.max() <= min(folds, len(set(groups)))
    assert len(set(zip(groups, assigned, strict=True))) == len(set(groups))
    assert (assign_folds(groups, right, folds, seed) == assigned).all()


@given(answers, st.integers(2, 6))
def test_the_test_parts_are_all_rows_once_and_no_training_part_holds_a_group_of_its_test_part(rows, folds):
    groups, right = np.array([group for group, _ in rows]), np.array([truth for _, truth in rows])
    parts = splits(assign_folds(groups, right, folds, 0))
    assert sorted(row for _, test in parts for row in test) == list(range(len(rows)))
    for train, test in parts:
        assert len(train) and not set(groups[train]) & set(groups[test])
        assert sorted([*train, *test]) == list(range(len(rows)))


def test_folds_have_about_the_same_share_of_right_answers():
    right = np.arange(100) % 5 == 0
    assigned = assign_folds([str(i) for i in range(100)], right, 5, seed=3)
    assert [right[assigned == fold].sum() for fold in range(1, 6)] == [4] * 5


def test_one_question_asked_again_and_again_has_nothing_to_fit_on():
    with pytest.raises(LeakError, match="two questions that differ"):
        assign_folds(["same", "same", "same"], np.array([True, False, True]), 5, 0)


FOLDS = pd.DataFrame({"qid": ["q1", "q2", "q3"], "group": ["a", "a", "b"], "fold": [1, 1, 2]})


def test_whole_folds_pass():
    check_folds(FOLDS, ["q1", "q2", "q3"])


@pytest.mark.parametrize(
    "folds, message",
    [
        (pd.concat([FOLDS, pd.DataFrame({"qid": ["q3"], "group": ["b"], "fold": [1]})]), "must have one fold .*q3"),
        (FOLDS.iloc[:2], "must have a fold .*q3"),
        (pd.concat([FOLDS, pd.DataFrame({"qid": ["q9"], "group": ["z"], "fold": [1]})]), "no fitted confidence.*q9"),
        (FOLDS.assign(fold=[1, 2, 2]), "equal questions must share a fold .*'a'"),
    ],
    ids=["twice", "none", "strange", "parted"],
)
def test_folds_that_leak_are_refused(folds, message):
    with pytest.raises(LeakError, match=message):
        check_folds(folds, ["q1", "q2", "q3"])
