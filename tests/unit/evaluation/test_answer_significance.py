"""Pairs of answer runs: all exchanges by a plain loop, scipy, rows by hand, and what the null hypothesis promises."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import permutation_test

from calibrag.evaluation.answer_measures import Answers, parse_measure, parse_measures
from calibrag.evaluation.answer_significance import (
    COLUMNS,
    Settings,
    compare_answer_runs,
    differences,
    exchange_test,
    holm,
    pair_of,
)
from calibrag.evaluation.significance import paired_randomisation

HMR = parse_measure("HMR")
GENERATOR = np.random.default_rng(8)
SETTINGS = Settings(400, 0.9, 1, 500, 2, "present")


def run_of(n, share=0.6, seed=0, **fields):
    generator = np.random.default_rng(seed)
    right = generator.random(n) < share
    stated = np.round(np.clip(generator.normal(0.4 + 0.3 * right, 0.25), 0, 1), 1)
    return pd.DataFrame(
        {
            "qid": [f"q{i}" for i in range(n)], "right": right, "confidence": stated, "em": right.astype(int),
            "f1": generator.random(n), "refused": False, "missing": False, "error": None, "supported": True,
            "nugget_precision": np.nan,
        } | fields
    )  # fmt: skip


def answers(c, right):
    return Answers(np.array(c, float), np.array(right, bool))


def plain(first, second, measure):
    """Return p over every exchange of whole answers, by plain loops."""

    def apart(one, two):
        return float(measure(*map(np.array, zip(*one, strict=True)))) - float(
            measure(*map(np.array, zip(*two, strict=True)))
        )

    observed, found = abs(apart(first, second)), []
    for exchange in product((False, True), repeat=len(first)):
        pairs = [(b, a) if change else (a, b) for a, b, change in zip(first, second, exchange, strict=True)]
        found.append(abs(apart(*zip(*pairs, strict=True))))
    return sum(not value < observed - 1e-12 for value in found) / len(found)


FIRST = [(0.9, True), (0.8, True), (0.3, False), (0.7, True), (0.2, False), (0.9, True), (0.6, True)]
SECOND = [(0.6, True), (0.9, False), (0.8, False), (0.4, True), (0.5, False), (0.9, False), (0.5, True)]


@pytest.mark.parametrize("name", ["accuracy", "HMR", "accHMR", "OB", "Brier", "AUROC", "AURC", "ECE(bins=3)"])
def test_the_exchange_test_agrees_with_all_exchanges_by_a_plain_loop(name):
    measure = parse_measure(name)
    pair = (answers(*zip(*FIRST, strict=True)), answers(*zip(*SECOND, strict=True)))
    found = exchange_test(measure, [pair], 20_000, 3)[0]
    assert found == pytest.approx(plain(FIRST, SECOND, measure), abs=0.015)


def test_the_exchange_test_of_hmr_agrees_with_scipy():
    first, second = (np.array([100 * c + 1000 * right for c, right in run]) for run in (FIRST, SECOND))

    def apart(one, two, axis):
        # scipy exchanges numbers, so an answer is packed into one
        runs = [np.moveaxis(run, axis, -1) for run in (one, two)]
        left, right = (HMR((run % 1000) / 100, run >= 1000) for run in runs)
        return left - right

    exact = permutation_test((first, second), apart, permutation_type="samples", vectorized=True, n_resamples=np.inf)
    pair = (answers(*zip(*FIRST, strict=True)), answers(*zip(*SECOND, strict=True)))
    # scipy doubles the smaller tail; the distribution is symmetric, since both runs may change places as a whole
    assert exchange_test(parse_measure("HMR"), [pair], 40_000, 3)[0] == pytest.approx(exact.pvalue, abs=0.015)


def test_for_accuracy_the_exchange_test_is_the_paired_test():
    first, second = run_of(40, 0.8, 1), run_of(40, 0.5, 2)
    pair = pair_of(first, second, "present")
    found = exchange_test(parse_measure("accuracy"), [(pair.first, pair.second)], 5000, 7)[0]
    scores = (first["right"].astype(float) - second["right"].astype(float)).to_numpy()[:, None]
    assert found == pytest.approx(paired_randomisation(scores, 5000, 9)[0], abs=0.02)


def test_sums_and_arrays_give_the_same_p_value(monkeypatch):
    pairs = [pair_of(run_of(30, 0.8, 1), run_of(30, 0.5, seed), "present")[:2] for seed in (2, 3)]
    by_sums = exchange_test(parse_measure("HMR"), pairs, 700, 5)
    monkeypatch.setattr("calibrag.evaluation.answer_measures.Measure.of_totals", None)
    assert exchange_test(parse_measure("HMR"), pairs, 700, 5) == pytest.approx(by_sums, abs=0.01)


def test_exchanging_equal_runs_changes_nothing():
    run = run_of(12, seed=4)
    assert exchange_test(parse_measure("HMR"), [pair_of(run, run, "present")[:2]], 200, 1)[0] == 1


def test_runs_that_are_alike_are_seldom_told_apart():
    pairs = []
    for seed in range(300):
        one, two = run_of(25, seed=2 * seed), run_of(25, seed=2 * seed + 1)
        pairs.append(pair_of(one, two, "present")[:2])
    assert 0.01 <= np.mean(exchange_test(parse_measure("accHMR"), pairs, 400, 1) < 0.05) <= 0.09


def test_the_seed_fixes_p_and_blocks_change_nothing(monkeypatch):
    pair = pair_of(run_of(20, seed=1), run_of(20, seed=2), "present")[:2]
    for name in ("HMR", "AUROC"):
        first = exchange_test(parse_measure(name), [pair], 300, 7)
        monkeypatch.setattr("calibrag.evaluation.significance._BLOCK", 100)
        assert np.array_equal(first, exchange_test(parse_measure(name), [pair], 300, 7))
        monkeypatch.undo()


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, np.nan, 0.6])) == pytest.approx([1, np.nan, 1], nan_ok=True)
    assert len(holm(np.array([]))) == 0


def test_every_pair_and_measure_has_its_row():
    runs = {name: run_of(20, seed=seed) for seed, name in enumerate("abc")}
    table = compare_answer_runs(runs, parse_measures(["accuracy", "HMR", "AUROC"]), SETTINGS)
    assert tuple(table.columns) == COLUMNS
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    assert list(zip(table["measure"], table["first"], table["second"], strict=True)) == [
        (measure, *pair) for measure in ("accuracy", "HMR", "AUROC") for pair in pairs
    ]
    for row in table.to_dict("records"):
        value = [float(parse_measure(row["measure"])(runs[row[side]]["confidence"], runs[row[side]]["right"]))
                 for side in ("first", "second")]  # fmt: skip
        assert [row["value_first"], row["value_second"]] == pytest.approx(value)
        assert row["difference"] == pytest.approx(value[0] - value[1])
        assert row["difference_low"] <= row["difference"] <= row["difference_high"]
        assert row["p_exchange"] <= row["p_holm"] <= 1
    means = table["measure"] == "accuracy"
    assert (table["won"] + table["lost"] + table["tied"])[means].eq(20).all() and table["won"][~means].isna().all()
    assert table["d_z"][means].notna().all() and table["d_z"][~means].isna().all()


def test_wins_and_effect_by_hand():
    first = run_of(4, right=[True, True, True, False], confidence=[0.5] * 4)
    second = run_of(4, right=[False, True, True, True], confidence=[0.5] * 4)
    row = compare_answer_runs({"a": first, "b": second}, parse_measures(["accuracy"]), SETTINGS).iloc[0]
    assert (row["won"], row["lost"], row["tied"], row["n"], row["d_z"]) == (1, 1, 2, 4, 0)


def test_the_paired_interval_is_about_that_of_scipy():
    first, second = run_of(60, 0.8, 1), run_of(60, 0.5, 2)
    found = differences(parse_measures(["HMR"]), pair_of(first, second, "present"), SETTINGS._replace(resamples=8000))[
        0
    ]

    def apart(c_first, right_first, c_second, right_second, axis):
        one = [np.moveaxis(column, axis, -1) for column in (c_first, right_first > 0.5)]
        two = [np.moveaxis(column, axis, -1) for column in (c_second, right_second > 0.5)]
        return HMR(*one) - HMR(*two)

    columns = [run[name].to_numpy(float) for run in (first, second) for name in ("confidence", "right")]
    theirs = scipy_bootstrap(
        columns, apart, paired=True, vectorized=True, confidence_level=0.9, n_resamples=8000, method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert (found["difference_low"], found["difference_high"]) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_a_question_that_either_lacks_is_left_out_of_both_or_wrong():
    first, second = run_of(6, right=[True] * 6), run_of(6, right=[True] * 6)
    second.loc[5, ["missing", "right", "confidence"]] = [True, False, np.nan]
    present, strict = pair_of(first, second, "present"), pair_of(first, second, "wrong")
    assert (present.n, present.n_missing, strict.n, strict.n_missing) == (5, 1, 6, 1)
    accuracy = parse_measure("accuracy")
    assert [float(accuracy.of(run)) for run in present[:2]] == [1, 1]
    assert [float(accuracy.of(run)) for run in strict[:2]] == pytest.approx([1, 5 / 6])


def test_a_right_refusal_counts_in_neither_sum_and_is_exchanged_as_it_is():
    unsupported = {"supported": [True, True, False]}
    refuses = run_of(
        3, right=[True, False, True], confidence=[0.9, 0.2, 0.0], refused=[False, False, True], **unsupported
    )
    replies = run_of(3, right=[True, False, False], confidence=[0.9, 0.2, 0.8], **unsupported)
    pair = pair_of(refuses, replies, "present")
    # the question counts in the second alone
    assert pair.n == 3 and [run.totals.n for run in pair[:2]] == [2, 3]
    hmr = parse_measure("HMR")
    assert float(hmr.of(pair.first)) > float(hmr.of(pair.second))
    # of two exchanges that matter, both are as far apart
    assert exchange_test(hmr, [pair[:2]], 300, 1)[0] == 1


def test_what_is_undefined_stays_open():
    ones = run_of(5, right=[True] * 5)
    cells = differences(parse_measures(["AUROC"]), pair_of(ones, run_of(5, seed=3), "present"), SETTINGS)[0]
    assert cells["value_first"] is None and cells["difference"] is None and cells["difference_low"] is None
    table = compare_answer_runs({"a": ones, "b": run_of(5, seed=3)}, parse_measures(["AUROC"]), SETTINGS)
    assert np.isnan(table["p_exchange"][0]) and np.isnan(table["p_holm"][0])
    # a defined difference of which some resamples are not
    some = run_of(5, right=[True, True, True, True, False])
    cells = differences(parse_measures(["AUROC"]), pair_of(some, some, "present"), SETTINGS)[0]
    assert cells["difference"] == 0 and cells["difference_undefined"] == pytest.approx(0.8**5, abs=0.08)


def test_two_runs_without_a_shared_question_have_no_difference():
    first, second = run_of(2, missing=[True, False]), run_of(2, missing=[False, True])
    for run in (first, second):
        run.loc[run["missing"], ["right", "confidence"]] = [False, np.nan]
    row = compare_answer_runs({"a": first, "b": second}, parse_measures(["HMR"]), SETTINGS).iloc[0]
    assert (row["n"], row["n_missing"]) == (0, 2) and pd.isna(row["difference"])


def test_a_single_run_has_no_pairs_and_other_questions_are_refused():
    assert compare_answer_runs({"a": run_of(3)}, parse_measures(["HMR"]), SETTINGS).empty
    with pytest.raises(ValueError, match="the same questions"):
        pair_of(run_of(3), run_of(3, qid=["x", "y", "z"]), "present")
