"""Randomised tests: hand-worked cases, a plain loop, scipy, and what the null hypothesis promises."""

import random
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from calibrag.evaluation.bootstrap import mean as mean_of
from calibrag.evaluation.bootstrap import paired_difference, resamples
from calibrag.evaluation.significance import (
    COLUMNS,
    compare_runs,
    paired_randomisation,
    residual_deviation,
    tukey_hsd,
)

SCORES = np.random.default_rng(3).random((12, 4)) + [0, 0, 0.1, 0.4]


def exact_tukey(scores):
    """p of all pairs over every exchange within every question, by plain loops."""
    runs = len(scores[0])
    means = [sum(row[j] for row in scores) / len(scores) for j in range(runs)]
    exchanges = list(product(*(list(permutations(row)) for row in scores)))
    largest = []
    for exchanged in exchanges:
        found = [sum(row[j] for row in exchanged) / len(scores) for j in range(runs)]
        largest.append(max(found) - min(found))
    return {
        (i, j): sum(one >= abs(means[i] - means[j]) - 1e-12 for one in largest) / len(largest)
        for i, j in combinations(range(runs), 2)
    }


def test_tukey_agrees_with_all_exchanges_by_a_plain_loop():
    scores = np.array([[0.9, 0.1, 0.3], [0.8, 0.2, 0.4], [0.7, 0.6, 0.0], [0.5, 0.4, 0.1]])
    found = tukey_hsd(scores, 40_000, 5)
    for (i, j), p in exact_tukey(scores.tolist()).items():
        assert found[i, j] == pytest.approx(p, abs=0.01)


def test_tukey_agrees_with_a_plain_loop_of_random_exchanges():
    chance, trials = random.Random(1), 3000
    rows, means = SCORES.tolist(), SCORES.mean(axis=0)
    largest = []
    for _ in range(trials):
        exchanged = np.array([chance.sample(row, len(row)) for row in rows]).mean(axis=0)
        largest.append(exchanged.max() - exchanged.min())
    found = tukey_hsd(SCORES, 20_000, 2)
    for i, j in combinations(range(4), 2):
        assert found[i, j] == pytest.approx(np.mean(np.array(largest) >= abs(means[i] - means[j])), abs=0.03)


def test_tukey_by_hand():
    # two questions, two runs: of the four exchanges two are as far apart as the runs are
    assert tukey_hsd(np.array([[1.0, 0.0], [1.0, 0.0]]), 20_000, 0)[0, 1] == pytest.approx(0.5, abs=0.02)
    # the same scores throughout: no exchange is closer
    assert tukey_hsd(np.full((5, 3), 0.25), 200, 0).tolist() == np.ones((3, 3)).tolist()


def test_two_runs_are_the_paired_test():
    two = SCORES[:, [0, 2]]
    paired = paired_randomisation(two[:, :1] - two[:, 1:], 40_000, 1)
    assert tukey_hsd(two, 40_000, 2)[0, 1] == pytest.approx(paired[0], abs=0.01)


def test_the_paired_test_agrees_with_scipy():
    for j in (1, 2, 3):
        one, two = SCORES[:, 0], SCORES[:, j]
        exact = permutation_test(
            (one, two), lambda a, b, axis: (a - b).mean(axis=axis), permutation_type="samples", n_resamples=np.inf
        )
        found = paired_randomisation((one - two)[:, None], 40_000, 3)[0]
        assert found == pytest.approx(exact.pvalue, abs=0.01)


def test_the_paired_test_by_hand():
    # all four differences positive: 2 of the 16 changes of signs are as far from 0
    assert paired_randomisation(np.ones((4, 1)), 40_000, 0)[0] == pytest.approx(2 / 16, abs=0.01)


def test_effect_sizes_by_hand():
    # question means 2 and 4, run means 2 and 4, mean 3: the residuals are 0, so no spread to divide by
    assert residual_deviation(np.array([[1.0, 3.0], [3.0, 5.0]])) == 0
    scores = np.array([[1.0, 3.0], [3.0, 3.0]])
    # residuals of -.5 and .5; their squares add to 1, on one degree of freedom
    assert residual_deviation(scores) == pytest.approx(1)
    row = compare_runs(scores, ["a", "b"], 500, 0, resamples(2, 100, 0), 0.9).iloc[0]
    assert row["difference"] == -1
    assert row["effect_size"] == pytest.approx(-1)
    assert row["d_z"] == pytest.approx(-1 / np.sqrt(2))
    assert (row["won"], row["lost"], row["tied"], row["n"]) == (0, 1, 1, 2)


def test_the_residual_variance_is_that_of_an_anova():
    questions, runs = SCORES.shape
    design = [[float(q == i) for i in range(questions)] + [float(r == j) for j in range(1, runs)]
              for q in range(questions) for r in range(runs)]  # fmt: skip
    _, (rest,), rank, _ = np.linalg.lstsq(np.array(design), SCORES.ravel(), rcond=None)
    assert residual_deviation(SCORES) == pytest.approx(np.sqrt(rest / (SCORES.size - rank)))


def test_every_pair_has_its_row_with_the_paired_bootstrap_interval():
    index = resamples(12, 500, 4)
    table = compare_runs(SCORES, list("abcd"), 1000, 0, index, 0.9)
    assert tuple(table.columns) == COLUMNS
    assert list(zip(table["first"], table["second"], strict=True)) == list(combinations("abcd", 2))
    assert (table["won"] + table["lost"] + table["tied"] == 12).all()
    expected = paired_difference(mean_of, index, 0.9, (SCORES[:, 0],), (SCORES[:, 3],))
    row = table.iloc[2]
    assert (row["difference"], row["difference_low"], row["difference_high"]) == pytest.approx(tuple(expected))


def test_a_pair_of_equal_runs_is_tied_and_has_no_effect():
    scores = np.column_stack([SCORES[:, 0], SCORES[:, 0] + 1e-15, SCORES[:, 1]])
    row = compare_runs(scores, ["a", "b", "c"], 200, 0, resamples(12, 100, 0), 0.9).iloc[0]
    assert row["tied"] == 12
    assert row["p_paired"] == row["p_tukey"] == 1
    assert np.isnan(row["d_z"])


def test_the_same_seed_gives_the_same_and_blocks_change_nothing(monkeypatch):
    first = (tukey_hsd(SCORES, 300, 7), paired_randomisation(SCORES, 300, 7))
    monkeypatch.setattr("calibrag.evaluation.significance._BLOCK", 100)
    second = (tukey_hsd(SCORES, 300, 7), paired_randomisation(SCORES, 300, 7))
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 5))
def test_tukey_is_never_surer_than_the_closest_pair_and_symmetric(seed, questions, runs):
    scores = np.random.default_rng(seed).integers(0, 4, (questions, runs)) / 3
    p = tukey_hsd(scores, 200, seed)
    assert np.array_equal(p, p.T) and (np.diag(p) == 1).all() and ((p >= 0) & (p <= 1)).all()
    means = scores.mean(axis=0)
    order = sorted(combinations(range(runs), 2), key=lambda pair: abs(means[pair[0]] - means[pair[1]]))
    values = [p[pair] for pair in order]
    assert all(closer >= wider for closer, wider in zip(values, values[1:], strict=False))


def test_runs_that_are_alike_are_seldom_told_apart():
    generator = np.random.default_rng(11)
    smallest = [tukey_hsd(generator.random((15, 4)), 200, seed).min() for seed in range(200)]
    assert 0.01 <= np.mean(np.array(smallest) < 0.05) <= 0.1


def test_a_hole_is_refused():
    with pytest.raises(ValueError, match="1 of 4 scores are NaN"):
        compare_runs(np.array([[1, np.nan], [0, 1]]), ["a", "b"], 100, 0, resamples(2, 100, 0), 0.9)


def test_a_single_run_has_no_pairs():
    assert compare_runs(np.ones((3, 1)), ["a"], 100, 0, resamples(3, 100, 0), 0.9).empty
