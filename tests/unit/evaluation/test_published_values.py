"""The values that the paper printed, recomputed to the printed digit from the counts that it gave.

What is derived: accuracies from counts of right answers; for the two rules R_O, R_U, HMR and accHMR from the only
counts that fit; accHMR = accuracy x HMR where accuracy and HMR are printed; the order of the runs; the difference of
PG-2 and PG-1, and its questions won, lost and tied.

What cannot be derived. AC-1 and AC-3 are printed with accHMR alone: their HMR follows up to rounding, their R_O and R_U
not at all, as those of AC-2 do not follow from its HMR. The difference of Q@20 (.0905), the differences by type of
question with their relevant passages, the AUROCs of signals (.707, .559, .586) and how much of the gain is length rest
on scores of questions that were not printed.
"""

import numpy as np
import pandas as pd
import pytest

from calibrag.evaluation.answer_measures import Answers, parse_measure
from calibrag.evaluation.answer_summary import summarise_answer_run
from calibrag.evaluation.bootstrap import resamples
from calibrag.evaluation.confidence import Totals, harmonic_mean
from calibrag.evaluation.significance import compare_runs
from calibrag.reporting.answer_tables import summarise_answers

N = 64
RIGHT = {"four-pass": 60, "AC-2": 59, "AC-1": 58, "single-pass": 58, "AC-3": 57}
HMR = {"four-pass": ".6985", "single-pass": ".6639", "AC-2": ".4915"}
ACC_HMR = {"four-pass": ".6549", "single-pass": ".6017", "AC-2": ".4531", "AC-1": ".2719", "AC-3": ".3956"}
# of right and of wrong answers, the counts that gave these values; any other that sums to the same would do
FOUR_PASS = ([1.0] * 40 + [0.5] * 15 + [0.0] * 5, [1.0, 0.5, 0.0, 0.0])
SINGLE_PASS = ([1.0] * 32 + [0.0] * 26, [1.0] + [0.0] * 5)


def printed(value) -> str:
    return f"{float(value):.4f}".removeprefix("0")


def measure(name, c, right):
    return parse_measure(name)(np.array(c), np.array(right))


def of_counts(rights, wrongs):
    """Return confidence and right of answers given by what each filed."""
    return np.array([*rights, *wrongs]), np.array([True] * len(rights) + [False] * len(wrongs))


def sums(right, stated_right, stated_wrong):
    """Return the sums of runs of 64 answers, all filed."""
    return Totals(*np.broadcast_arrays(N, right, N - right, stated_right, stated_wrong))


def accuracy_of(run):
    right = np.arange(N) < RIGHT[run]
    return float(measure("accuracy", np.zeros(N), right))


@pytest.mark.parametrize(
    ("counts", "run", "r_o", "r_u"),
    [(FOUR_PASS, "four-pass", 5 / 8, 95 / 120), (SINGLE_PASS, "single-pass", 5 / 6, 32 / 58)],
)
def test_a_rule_gives_its_printed_row(counts, run, r_o, r_u):
    c, right = of_counts(*counts)
    assert len(c) == N and right.sum() == RIGHT[run]
    assert float(measure("R_O", c, right)) == pytest.approx(r_o)
    assert float(measure("R_U", c, right)) == pytest.approx(r_u)
    assert printed(measure("HMR", c, right)) == HMR[run]
    assert printed(measure("accHMR", c, right)) == ACC_HMR[run]


@pytest.mark.parametrize(
    ("run", "steps", "r_o", "r_u"), [("four-pass", 2, 5 / 8, 95 / 120), ("single-pass", 1, 5 / 6, 32 / 58)]
)
def test_only_these_counts_fit_what_was_printed(run, steps, r_o, r_u):
    """Confidences in steps of 50 (four passes: 0, 50, 100) or 100 (single pass: 0, 100)."""
    fit = {(o, u) for o, u, hmr, acc_hmr in of_all_sums(run, steps, ACC_HMR[run]) if printed(hmr) == HMR[run]}
    assert len(fit) == 1
    assert fit.pop() == pytest.approx((r_o, r_u))


def of_all_sums(run, steps, acc_hmr):
    """Return R_O, R_U, HMR and accHMR of all sums of confidences in `steps` a point whose accHMR is as printed."""
    right = RIGHT[run]
    of_right, of_wrong = np.arange(right * steps + 1) / steps, np.arange((N - right) * steps + 1) / steps
    totals = sums(right, *(axis.ravel() for axis in np.meshgrid(of_right, of_wrong)))
    values = np.stack([parse_measure(name).of_totals(totals) for name in ("R_O", "R_U", "HMR", "accHMR")], axis=1)
    return [row for row in values[np.abs(values[:, 3] - float(acc_hmr)) < 1e-4].tolist() if printed(row[3]) == acc_hmr]


@pytest.mark.parametrize("run", HMR)
def test_acc_hmr_is_accuracy_times_hmr(run):
    # the factor is printed, so it is known to half a unit of the last digit
    nearest = [accuracy_of(run) * (float(HMR[run]) + error) for error in (-5e-5, 5e-5)]
    assert nearest[0] - 5e-5 <= float(ACC_HMR[run]) <= nearest[1] + 5e-5


def test_acc_hmr_of_the_most_confident_run_multiplies_out_to_the_digit():
    assert printed(accuracy_of("AC-2") * float(HMR["AC-2"])) == ACC_HMR["AC-2"]


@pytest.mark.parametrize(("run", "low", "high"), [("AC-1", 0.29997, 0.30009), ("AC-3", 0.44412, 0.44424)])
def test_the_hmr_of_runs_printed_with_acc_hmr_alone_follows_up_to_rounding(run, low, high):
    bounds = [(float(ACC_HMR[run]) + error) / accuracy_of(run) for error in (-5e-5, 5e-5)]
    assert bounds == pytest.approx([low, high], abs=1e-5)
    fit = of_all_sums(run, 100, ACC_HMR[run])
    hmr = [row[2] for row in fit]
    assert low - 1e-5 <= min(hmr) and max(hmr) <= high + 1e-5
    # confidences in hundredths leave R_O and R_U open
    assert max(row[0] for row in fit) - min(row[0] for row in fit) > 0.5


@pytest.mark.parametrize(("run", "accuracy"), [("four-pass", ".9375"), ("AC-2", ".9219"), ("AC-1", ".9062"),
                                               ("single-pass", ".9062"), ("AC-3", ".8906")])  # fmt: skip
def test_accuracies_follow_from_the_counts(run, accuracy):
    assert printed(accuracy_of(run)) == accuracy


@pytest.mark.parametrize("counts", [FOUR_PASS, SINGLE_PASS])
def test_mean_confidence_is_acc_r_u_and_the_rest_of_r_o(counts):
    c, right = of_counts(*counts)
    accuracy, r_o, r_u, bias = (float(measure(name, c, right)) for name in ("accuracy", "R_O", "R_U", "OB"))
    assert accuracy * r_u + (1 - accuracy) * (1 - r_o) == pytest.approx(c.mean())
    assert bias == pytest.approx(c.mean() - accuracy)


def test_constant_confidence_of_a_half_is_the_most_that_one_number_reaches():
    right = np.arange(N) < 58
    best = max((float(measure("HMR", np.full(N, c / 100), right)), c) for c in range(101))
    assert best == (pytest.approx(0.5), 50)
    # so both rules file more than one number could
    assert all(float(HMR[run]) > 0.5 for run in ("four-pass", "single-pass"))


def scored(run, c, right):
    return pd.DataFrame(
        {
            "collection": "ntcir", "system": "bitem", "run": run, "qid": [f"{i:04}" for i in range(N)],
            "confidence": c, "right": right, "em": right.astype(int), "f1": right.astype(float), "refused": False,
            "missing": False, "error": None, "supported": True, "nugget_precision": np.nan, "label": "match",
        }
    )  # fmt: skip


def test_the_table_prints_the_rows_and_ranks_them_as_the_paper_does():
    rows = {"four-pass": of_counts(*FOUR_PASS), "single-pass": of_counts(*SINGLE_PASS)}
    for run, hmr in (("AC-2", 0.4915), ("AC-1", 0.2719 * N / 58), ("AC-3", 0.3956 * N / 57)):
        # R_O = R_U = HMR gives the HMR that was printed or follows; the true two were not printed
        right = np.arange(N) < RIGHT[run]
        rows[run] = (np.where(right, hmr, 1 - hmr), right)
    scores = pd.concat([scored(run, *row) for run, row in rows.items()], ignore_index=True)
    resampling = {"resamples": 100, "level": 0.95, "seed": 1}
    table = summarise_answers(scores, ["accuracy", "HMR", "accHMR"], "present", resampling).set_index("run")
    assert {run: printed(value) for run, value in table["accHMR"].items()} == ACC_HMR
    assert {run: printed(table["HMR"][run]) for run in HMR} == HMR
    assert dict(table["n_right"]) == RIGHT
    assert list(table.sort_values("rank").index) == ["four-pass", "single-pass", "AC-2", "AC-3", "AC-1"]


def test_a_row_of_counts_has_no_interval_without_its_questions():
    row = summarise_answer_run(
        scored("four-pass", *of_counts(*FOUR_PASS)), [parse_measure("HMR")], 500, 0.95, 1, "present"
    )
    assert row["HMR_low"] < row["HMR"] < row["HMR_high"] and row["share_no_wrong"] > 0


def test_the_difference_of_the_passage_runs_and_its_questions():
    """Scores whose means print as .3509 and .4217, with 42 questions won, 15 lost and 7 tied."""
    first = np.full(N, 0.35087)
    gained = np.array([0.1285] * 42 + [-0.0574] * 15 + [0.0] * 7)
    scores = np.column_stack([first + gained, first])
    row = compare_runs(scores, ["PG-2", "PG-1"], 200, 1, resamples(N, 200, 1), 0.95).iloc[0]
    assert [printed(mean) for mean in scores.mean(axis=0)] == [".4217", ".3509"]
    # printed .0709, though .4217 - .3509 is .0708: the means were rounded after they were subtracted
    assert printed(row["difference"]) == ".0709"
    assert abs(float(".0709") - (float(".4217") - float(".3509"))) <= 1e-4
    assert (row["won"], row["lost"], row["tied"]) == (42, 15, 7)
    assert row["won"] + row["lost"] + row["tied"] == row["n"] == N


def test_rank_of_runs_by_accuracy_and_by_acc_hmr_differ():
    by_accuracy = sorted(RIGHT, key=lambda run: -accuracy_of(run))
    assert by_accuracy[:2] == ["four-pass", "AC-2"] and by_accuracy[-1] == "AC-3"
    assert sorted(ACC_HMR, key=lambda run: -float(ACC_HMR[run]))[1] == "single-pass"


def test_the_harmonic_mean_of_the_printed_parts():
    assert printed(harmonic_mean(5 / 8, 95 / 120)) == HMR["four-pass"]
    assert printed(harmonic_mean(5 / 6, 32 / 58)) == HMR["single-pass"]


def test_sums_and_answers_give_the_same():
    c, right = of_counts(*FOUR_PASS)
    totals = Answers(c, right).totals
    assert [float(part) for part in totals] == [64, 60, 4, 47.5, 1.5]
