"""The bootstrap: seeded, shared between runs, free of holes, right about a known distribution."""

import numpy as np
import pytest

from calibrag.evaluation import bootstrap
from calibrag.evaluation.answer_measures import parse_measure

HMR = parse_measure("HMR")


def mean(values):
    return values.mean(axis=-1)


def test_resamples_depend_on_the_seed_alone():
    first = bootstrap.resamples(7, 50, 3)
    assert np.array_equal(first, bootstrap.resamples(7, 50, 3))
    assert not np.array_equal(first, bootstrap.resamples(7, 50, 4))
    assert first.shape == (50, 7)
    assert first.min() >= 0 and first.max() <= 6


def test_replicates_agree_with_a_loop_whatever_the_block(monkeypatch):
    rng = np.random.default_rng(0)
    c, right = rng.random(9), rng.random(9) < 0.6
    index = bootstrap.resamples(9, 40, 1)
    looped = [float(HMR(c[rows], right[rows])) for rows in index]
    assert bootstrap.replicates(HMR, index, c, right) == pytest.approx(looped)
    monkeypatch.setattr(bootstrap, "_BLOCK", 30)
    assert bootstrap.replicates(HMR, index, c, right) == pytest.approx(looped)


def test_interval_by_hand():
    assert bootstrap.interval(np.arange(101), 0.9) == pytest.approx((5, 95))


def test_interval_refuses_a_hole():
    with pytest.raises(ValueError, match="1 of 3 replicates are NaN"):
        bootstrap.interval([0.1, np.nan, 0.3], 0.95)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_interval_refuses_a_level_that_is_no_share(level):
    with pytest.raises(ValueError, match="inside"):
        bootstrap.interval([0.1], level)


def test_estimate_of_a_mean_nears_the_normal_interval():
    values = np.array([0.0, 1.0] * 200)
    found = bootstrap.estimate(mean, bootstrap.resamples(400, 5000, 0), 0.95, values)
    half = 1.96 * 0.5 / 20
    assert found.value == 0.5
    assert found.low == pytest.approx(0.5 - half, abs=0.006)
    assert found.high == pytest.approx(0.5 + half, abs=0.006)


def test_paired_difference_cancels_what_the_runs_share():
    rng = np.random.default_rng(5)
    easy = rng.random(50)
    index = bootstrap.resamples(50, 500, 0)
    found = bootstrap.paired_difference(mean, index, 0.95, (easy + 0.1,), (easy,))
    assert found == pytest.approx((0.1, 0.1, 0.1))


def test_paired_difference_of_two_columns_agrees_with_a_loop():
    rng = np.random.default_rng(6)
    first = (rng.random(12), rng.random(12) < 0.5)
    second = (rng.random(12), rng.random(12) < 0.5)
    index = bootstrap.resamples(12, 200, 0)

    def hmr(run, rows):
        return float(HMR(run[0][rows], run[1][rows]))

    looped = [hmr(first, rows) - hmr(second, rows) for rows in index]
    found = bootstrap.paired_difference(HMR, index, 0.8, first, second)
    assert found.value == pytest.approx(hmr(first, slice(None)) - hmr(second, slice(None)))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(looped, [0.1, 0.9])))


def test_columns_of_another_length_are_refused():
    with pytest.raises(ValueError, match="n = 3"):
        bootstrap.replicates(mean, bootstrap.resamples(3, 5, 0), np.zeros(4))


def test_no_questions_are_refused():
    with pytest.raises(ValueError, match="n = 0"):
        bootstrap.resamples(0, 10, 0)


def test_multiplicities_say_how_often_each_question_was_drawn(monkeypatch):
    index = bootstrap.resamples(7, 50, 3)
    monkeypatch.setattr("calibrag.evaluation.bootstrap._BLOCK", 40)
    blocks = list(bootstrap.multiplicities(index))
    assert len(blocks) == 10
    expected = [[list(row).count(question) for question in range(7)] for row in index]
    assert np.concatenate(blocks).tolist() == expected


def test_an_interval_over_what_is_defined_tells_the_share_that_is_not():
    values = np.arange(8.0)
    assert bootstrap.interval_where_defined(values, 0.5) == (*bootstrap.interval(values, 0.5), 0)
    holed = np.append(values, [np.nan, np.nan])
    assert bootstrap.interval_where_defined(holed, 0.5) == (*bootstrap.interval(values, 0.5), 0.2)
    assert bootstrap.interval_where_defined([np.nan], 0.5) == (None, None, 1)
