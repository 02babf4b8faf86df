"""Calibration measures: second implementations, all orders of ties by brute force, and what the definitions promise."""

from itertools import groupby, permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from netcal.metrics import ECE
from scipy.stats import spearmanr
from sklearn.metrics import brier_score_loss, roc_auc_score

from calibrag.evaluation.calibration import (
    Tally,
    aurc,
    auroc,
    brier,
    ece,
    prr,
    spearman,
    tally,
    weighted_tally,
)
from calibrag.evaluation.curves import reliability_bins, risk_coverage

MEASURES = {
    "auroc": auroc,
    "aurc": aurc,
    "prr": prr,
    "spearman": spearman,
    "brier": brier,
    "ece": lambda answers: ece(answers, 10, "width"),
    "mass": lambda answers: ece(answers, 4, "mass"),
}
# few values, so that ties are common; hundredths, as runs file them
levels = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.integers(0, 100).map(lambda hundredth: hundredth / 100)
runs = st.lists(st.tuples(levels, st.booleans()), min_size=1, max_size=40)
mixed = runs.filter(lambda run: len({right for _, right in run}) == 2)
holed = st.lists(st.tuples(levels, st.booleans(), st.booleans()), min_size=1, max_size=20)


def split(run):
    return np.array([c for c, _ in run]), np.array([right for _, right in run])


def of(name, c, right, filed=None):
    return float(MEASURES[name](tally(c, right, filed)))


def orders(run):
    """Return the answers, right or wrong, of all orders from the most to the least confident."""
    ranked = sorted(run, key=lambda answer: -answer[0])
    ties = [[right for _, right in tie] for _, tie in groupby(ranked, key=lambda answer: answer[0])]
    return [sum(map(list, order), []) for order in product(*(list(permutations(tie)) for tie in ties))]


def risks(order):
    return [order[:k].count(False) / k for k in range(1, len(order) + 1)]


def mean(values):
    return sum(values) / len(values)


@given(mixed)
def test_auroc_is_that_of_scikit_learn(run):
    c, right = split(run)
    assert of("auroc", c, right) == pytest.approx(roc_auc_score(right, c))


@given(runs)
def test_brier_is_that_of_scikit_learn(run):
    c, right = split(run)
    assert of("brier", c, right) == pytest.approx(brier_score_loss(right, c, labels=[False, True], pos_label=True))


@given(mixed)
def test_spearman_is_that_of_scipy(run):
    c, right = split(run)
    assume(len(set(c)) > 1)
    assert of("spearman", c, right) == pytest.approx(spearmanr(c, right).statistic)


@given(st.integers(1, 15), st.integers(0, 2**32 - 1))
def test_ece_of_equal_width_is_that_of_netcal(bins, seed):
    # netcal's bins are closed on the left, ours on the right: values on no edge
    generator = np.random.default_rng(seed)
    c, right = generator.integers(0, 990, 60) / 1000 + 0.0003, generator.random(60) < 0.6
    assert float(ece(tally(c, right), bins, "width")) == pytest.approx(ECE(bins).measure(c, right.astype(int)))


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_ece_of_equal_mass_is_that_of_netcal_where_bins_come_out_even(bins, each, seed):
    generator = np.random.default_rng(seed)
    n = bins * each
    assume(n > 1)
    c, right = generator.permutation(np.linspace(0.01, 0.99, n)), generator.random(n) < 0.6
    theirs = ECE(bins, equal_intervals=False).measure(c, right.astype(int))
    assert float(ece(tally(c, right), bins, "mass")) == pytest.approx(theirs)


def test_ece_by_hand_with_values_on_edges():
    c = np.array([0.0, 0.3, 0.3, 0.7, 1.0])
    right = np.array([False, True, False, True, True])
    # (0, .1]: |0 - 0|, (.2, .3]: |.6 - 1|, (.6, .7]: |.7 - 1|, (.9, 1]: |1 - 1|
    assert of("ece", c, right) == pytest.approx((0.4 + 0.3) / 5)
    # 10 x .3 is above 3 in binary if .3 is .1 + .2
    assert of("ece", np.where(c == 0.3, 0.1 + 0.2, c), right) == pytest.approx(0.7 / 5)


def test_equal_mass_never_parts_a_tie():
    c = np.array([0.2] * 5 + [0.8] * 3)
    right = np.array([True, False, False, False, False, True, True, False])
    # two bins of four would cut the first five: both levels stay whole, |1 - 1| and |2.4 - 2|
    assert float(ece(tally(c, right), 2, "mass")) == pytest.approx(0.4 / 8)
    assert list(reliability_bins(tally(c, right), 2, "mass")["n"]) == [5, 3]


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), min_size=1, max_size=6))
def test_aurc_is_the_mean_over_all_orders_of_ties(run):
    expected = mean([mean(risks(order)) for order in orders(run)])
    assert of("aurc", *split(run)) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), min_size=2, max_size=6))
def test_prr_is_the_mean_over_all_orders_of_ties(run):
    found = of("prr", *split(run))
    rights = sorted((right for _, right in run), reverse=True)
    if len(set(rights)) == 1:
        assert np.isnan(found)
        return
    # areas under curves of the share of right answers, as lm-polygraph has them
    oracle, chance = mean([1 - risk for risk in risks(rights)]), mean(rights)
    areas = [mean([1 - risk for risk in risks(order)]) for order in orders(run)]
    assert found == pytest.approx(mean([(area - chance) / (oracle - chance) for area in areas]))


@given(runs)
def test_the_risk_coverage_curve_is_what_aurc_is_the_area_of(run):
    answers = tally(*split(run))
    curve = risk_coverage(answers)
    assert curve["risk"].mean() == pytest.approx(float(aurc(answers)))
    assert curve["coverage"].iloc[-1] == 1
    assert curve["risk"].iloc[-1] == pytest.approx(1 - mean([right for _, right in run]))
    assert (np.diff(curve["confidence"]) <= 0).all()


@given(runs, st.integers(1, 12), st.sampled_from(["width", "mass"]))
def test_ece_is_the_gap_of_the_reliability_bins(run, bins, binning):
    answers = tally(*split(run))
    table = reliability_bins(answers, bins, binning)
    assert list(table["bin"]) == list(range(1, bins + 1)) and table["n"].sum() == len(run)
    assert table["confidence"].isna().equals(table["n"] == 0)
    gaps = (table["n"] * (table["accuracy"] - table["confidence"]).abs()).sum() / len(run)
    assert gaps == pytest.approx(float(ece(answers, bins, binning)), abs=1e-12)


@given(runs)
def test_brier_decomposes_into_reliability_resolution_and_uncertainty(run):
    c, right = split(run)
    frame = pd.DataFrame({"c": c, "right": right.astype(float)})
    group = frame.groupby("c")["right"]
    share, base = group.transform("mean"), frame["right"].mean()
    reliability, resolution = ((frame["c"] - share) ** 2).mean(), ((share - base) ** 2).mean()
    assert of("brier", c, right) == pytest.approx(reliability - resolution + base * (1 - base))


@given(mixed, st.sampled_from([lambda c: c**3, lambda c: 0.2 + c / 2, lambda c: np.expm1(c) / np.expm1(1)]))
def test_measures_of_order_do_not_change_under_a_growing_map(run, grow):
    c, right = split(run)
    assume(len(set(grow(c))) == len(set(c)))
    for name in ("auroc", "aurc", "prr", "spearman"):
        assert of(name, grow(c), right) == pytest.approx(of(name, c, right), nan_ok=True)


@given(mixed)
def test_confidence_turned_round_turns_auroc_and_spearman_round(run):
    c, right = split(run)
    assert of("auroc", 1 - c, right) == pytest.approx(1 - of("auroc", c, right))
    assert of("spearman", 1 - c, right) == pytest.approx(-of("spearman", c, right), nan_ok=True)


@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(run, random):
    shuffled = random.sample(run, len(run))
    for name in MEASURES:
        assert of(name, *split(shuffled)) == pytest.approx(of(name, *split(run)), nan_ok=True)


@given(holed)
def test_answers_without_a_filed_confidence_have_no_part(run):
    c = np.array([c if filed else np.nan for c, _, filed in run])
    right, filed = (np.array([answer[i] for answer in run]) for i in (1, 2))
    right &= filed
    for name in MEASURES:
        kept = of(name, c[filed], right[filed]) if filed.any() else np.nan
        assert of(name, c, right, filed) == pytest.approx(kept, nan_ok=True)


@given(holed, st.integers(0, 2**32 - 1))
def test_weights_give_what_gathered_resamples_give(run, seed):
    c, right, filed = (np.array([answer[i] for answer in run]) for i in range(3))
    index = np.random.default_rng(seed).integers(0, len(run), (6, len(run)))
    weights = np.stack([np.bincount(row, minlength=len(run)) for row in index])
    for name, measure in MEASURES.items():
        gathered = measure(tally(c[index], (right & filed)[index], filed[index]))
        weighted = measure(weighted_tally(c, right & filed, filed, weights))
        alone = [of(name, c[row], (right & filed)[row], filed[row]) for row in index]
        assert gathered.shape == weighted.shape == (6,)
        assert gathered == pytest.approx(weighted, nan_ok=True) and gathered == pytest.approx(alone, nan_ok=True)


def test_what_is_undefined_is_nan_and_not_a_number():
    c, ones = np.array([0.2, 0.4, 0.9]), np.ones(3, bool)
    for right in (ones, ~ones):
        assert np.isnan([of(name, c, right) for name in ("auroc", "prr", "spearman")]).all()
        assert not np.isnan([of(name, c, right) for name in ("aurc", "brier", "ece", "mass")]).any()
    assert np.isnan(of("spearman", np.full(3, 0.5), np.array([True, False, True])))
    assert of("auroc", np.full(3, 0.5), np.array([True, False, True])) == 0.5
    assert np.isnan([of(name, c, ~ones, ~ones) for name in MEASURES]).all()


def test_one_constant_confidence_is_chance():
    c, right = np.full(10, 0.4), np.arange(10) < 7
    assert of("prr", c, right) == pytest.approx(0)
    assert of("aurc", c, right) == pytest.approx(0.3)
    assert of("ece", c, right) == pytest.approx(0.3)


def test_a_perfect_order_is_the_oracle():
    c, right = np.linspace(0, 1, 10), np.arange(10) >= 4
    assert of("auroc", c, right) == of("prr", c, right) == pytest.approx(1)
    assert of("prr", 1 - c, right) < of("prr", np.full(10, 0.5), right) == pytest.approx(0)


def test_a_level_without_answers_changes_nothing():
    answers = Tally(np.array([0.1, 0.5, 0.9]), np.array([1, 0, 2]), np.array([2, 0, 1]))
    bare = Tally(np.array([0.1, 0.9]), np.array([1, 2]), np.array([2, 1]))
    for measure in MEASURES.values():
        assert float(measure(answers)) == pytest.approx(float(measure(bare)))
