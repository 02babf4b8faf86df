"""The HMR family: a second implementation and the facts that follow from the formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.evaluation.answer_measures import parse_measure
from calibrag.evaluation.confidence import check

ACCURACY, R_O, R_U, HMR, ACC_HMR, OB = map(parse_measure, ("accuracy", "R_O", "R_U", "HMR", "accHMR", "OB"))

unit = st.floats(0, 1)
runs = st.lists(st.tuples(unit, st.booleans()), min_size=1, max_size=30)


def split(run):
    return np.array([c for c, _ in run]), np.array([right for _, right in run])


def by_hand(run):
    """Return the measures of [(confidence, right)], in plain Python and straight from the formulas."""
    right = [c for c, is_right in run if is_right]
    wrong = [c for c, is_right in run if not is_right]
    r_o = 1 - sum(wrong) / len(wrong) if wrong else 1
    r_u = sum(right) / len(right) if right else 1
    hmr = 0 if r_o == r_u == 0 else 2 * r_o * r_u / (r_o + r_u)
    accuracy = len(right) / len(run)
    mean = sum(c for c, _ in run) / len(run)
    return {
        "accuracy": accuracy, "r_o": r_o, "r_u": r_u, "hmr": hmr, "acc_hmr": accuracy * hmr, "ob": mean - accuracy
    }  # fmt: skip


def measured(c, right):
    return {
        "accuracy": ACCURACY(c, right), "r_o": R_O(c, right), "r_u": R_U(c, right),
        "hmr": HMR(c, right), "acc_hmr": ACC_HMR(c, right), "ob": OB(c, right),
    }  # fmt: skip


@given(runs)
def test_measures_agree_with_a_plain_implementation(run):
    found = measured(*split(run))
    assert {name: float(value) for name, value in found.items()} == pytest.approx(by_hand(run))


@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(run, random):
    shuffled = random.sample(run, len(run))
    assert by_hand(run) == pytest.approx({k: float(v) for k, v in measured(*split(shuffled)).items()})


@given(st.integers(1, 8), st.data())
def test_leading_axes_are_runs_of_their_own(n, data):
    rows = [data.draw(st.lists(st.tuples(unit, st.booleans()), min_size=n, max_size=n)) for _ in range(4)]
    c, right = np.array([split(row)[0] for row in rows]), np.array([split(row)[1] for row in rows])
    stacked = measured(c.reshape(2, 2, n), right.reshape(2, 2, n))
    for name, values in stacked.items():
        assert values.shape == (2, 2)
        assert values.ravel() == pytest.approx([by_hand(row)[name] for row in rows])


@given(unit, st.integers(1, 20), st.integers(1, 20))
def test_constant_confidence_gives_2c_1_minus_c_at_any_accuracy(c, right, wrong):
    judged = np.array([True] * right + [False] * wrong)
    assert HMR(np.full(right + wrong, c), judged) == pytest.approx(2 * c * (1 - c))
    assert HMR(np.full(right + wrong, c), judged) <= 0.5 + 1e-12


@given(st.integers(1, 20))
def test_all_wrong_at_zero_gives_hmr_1_and_acc_hmr_0(n):
    c, right = np.zeros(n), np.zeros(n, bool)
    assert HMR(c, right) == 1
    assert ACC_HMR(c, right) == 0


@given(runs)
def test_mean_confidence_decomposes(run):
    c, right = split(run)
    accuracy = ACCURACY(c, right)
    parts = accuracy * R_U(c, right) + (1 - accuracy) * (1 - R_O(c, right))
    assert c.mean() == pytest.approx(parts)
    assert OB(c, right) == pytest.approx(parts - accuracy)


def test_exactly_wrong_confidence_gives_0_and_not_nan():
    c, right = np.array([0.0, 1.0]), np.array([True, False])
    assert R_O(c, right) == R_U(c, right) == HMR(c, right) == 0


def test_missing_answers_cost_accuracy_and_leave_hmr_alone():
    c, right = np.array([0.9, 0.2, 0.4]), np.array([True, False, True])
    more_c, more_right = np.append(c, [np.nan] * 3), np.append(right, [False] * 3)
    filed = ~np.isnan(more_c)
    assert ACCURACY(more_c, more_right) == pytest.approx(2 / 6)
    assert HMR(more_c, more_right, filed) == HMR(c, right)
    assert ACC_HMR(more_c, more_right, filed) == pytest.approx(ACC_HMR(c, right) / 2)
    assert OB(more_c, more_right, filed) == pytest.approx(0.5 - 2 / 6)


def test_without_any_filed_confidence_the_bias_is_undefined():
    holed, right, filed = np.full(2, np.nan), np.zeros(2, bool), np.zeros(2, bool)
    assert np.isnan(OB(holed, right, filed))
    assert HMR(holed, right, filed) == 1 and ACC_HMR(holed, right, filed) == 0


@pytest.mark.parametrize(
    ("c", "right", "filed", "problem"),
    [
        ([0.5, np.nan], [True, False], None, "lie in"),
        ([0.5, 100.0], [True, False], None, "lie in"),
        ([-0.1], [True], None, "lie in"),
        ([], [], None, "n >= 1"),
        ([0.5], [True, False], None, "one shape"),
        ([0.5], [1], None, "boolean"),
        ([0.5], [True], [False], "cannot be right"),
        ([0.5], [True], [True, True], "shape of confidence"),
    ],
)
def test_holes_and_percentages_are_refused(c, right, filed, problem):
    with pytest.raises(ValueError, match=problem):
        check(np.array(c), np.array(right, dtype=bool if not right else None), filed)


def test_a_hole_is_allowed_where_nothing_was_filed():
    holed, right = np.array([0.5, np.nan]), np.array([True, False])
    assert check(holed, right, np.array([True, False])) is None
    with pytest.raises(ValueError, match="must lie in"):
        check(holed, right, np.array([True, True]))
