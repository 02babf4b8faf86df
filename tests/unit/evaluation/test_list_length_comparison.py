"""How much of a gain is length, by hand."""

import numpy as np
import pandas as pd
import pytest

from calibrag.evaluation.list_length import RUNS, compare_lengths


def scores(values, lengths=None, n_relevant=1):
    """Return scores by question of the four runs, from run -> values."""
    n = len(values["PG-1"])
    lengths = lengths or {run: [2] * n for run in RUNS}
    return pd.concat(
        pd.DataFrame(
            {
                "run": run,
                "qid": [f"q{i}" for i in range(n)],
                "m": values[run],
                "n_relevant": n_relevant,
                "length": lengths[run],
                "missing": np.array(lengths[run]) == 0,
            }
        )
        for run in RUNS
    )


def compared(frame, no_relevant="zero"):
    return compare_lengths(frame, ["m"], 500, 0.95, 1, no_relevant).iloc[0]


HALF = {"PG-1": [0.2, 0.4], "PG-2": [0.6, 0.8], "PG-2 cut": [0.4, 0.6], "PG-1 padded": [0.3, 0.5]}


def test_the_part_of_a_gain_that_is_gone_at_one_length():
    row = compared(scores(HALF))
    assert [row[run] for run in RUNS] == pytest.approx([0.3, 0.7, 0.5, 0.4])
    assert [row[name] for name in ("gain", "gain_cut", "gain_padded")] == pytest.approx([0.4, 0.2, 0.3])
    assert (row["gain_low"], row["gain_high"]) == pytest.approx((0.4, 0.4))
    assert (row["share_cut"], row["share_padded"]) == pytest.approx((0.5, 0.25))


def test_a_gain_that_may_be_nothing_has_no_parts():
    row = compared(scores(HALF | {"PG-2": [0.1, 0.6]}))
    assert row["gain_low"] < 0 < row["gain_high"]
    assert np.isnan(row["share_cut"]) and np.isnan(row["share_padded"])


def test_a_loss_has_no_parts_either():
    assert np.isnan(compared(scores(HALF | {"PG-2": [0.1, 0.1]}))["share_cut"])


def test_short_rankings_are_counted_and_those_that_padding_did_not_fill():
    lengths = {"PG-1": [1, 2], "PG-2": [3, 2], "PG-2 cut": [1, 2], "PG-1 padded": [2, 2]}
    row = compared(scores(HALF, lengths))
    assert row[["n", "n_missing", "n_short", "n_still_short"]].tolist() == [2, 0, 1, 1]


def test_questions_that_a_run_lacks_and_those_without_a_relevant_passage_are_counted():
    lengths = {"PG-1": [0, 2], "PG-2": [2, 2], "PG-2 cut": [0, 2], "PG-1 padded": [2, 2]}
    frame = scores(HALF, lengths, n_relevant=[1, 0])
    assert compared(frame)[["n", "n_missing", "n_no_relevant"]].tolist() == [2, 1, 1]
    assert compared(frame, "leave_out")["n"] == 1


def test_runs_are_paired_by_question_and_not_by_place():
    frame = scores(HALF)
    turned = pd.concat([frame[frame["run"] == "PG-1"], frame[frame["run"] != "PG-1"].iloc[::-1]])
    assert compared(turned)["gain_high"] == pytest.approx(0.4)
