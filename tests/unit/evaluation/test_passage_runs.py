"""Passage runs: questions that a run lacks score zero, and barren questions are counted apart."""

import numpy as np
import pytest

from calibrag.errors import CalibragError
from calibrag.evaluation.passage_runs import score_rankings, summarise_ranking

QRELS = {"a": {"x": 1, "y": 2}, "b": {"z": 0}, "c": {"x": 1}, "d": {"x": 1}}
RUN = {"a": ["y", "x"], "b": ["z"], "c": ["q", "x"]}
QIDS = ["d", "a", "b", "c"]


def summary(no_relevant, run=RUN, qids=QIDS):
    frame = score_rankings({"r": run}, QRELS, ["nDCG@20", "R@1"], qids)
    return summarise_ranking(frame, ["nDCG@20", "R@1"], 300, 0.9, 2, no_relevant)


def test_rows_follow_the_questions():
    frame = score_rankings({"r": RUN}, QRELS, ["nDCG@20", "R@1"], QIDS)
    assert list(frame.columns) == ["run", "qid", "nDCG@20", "R@1", "n_relevant", "length", "n_found", "missing"]
    assert list(frame["qid"]) == QIDS
    assert list(frame["n_relevant"]) == [1, 2, 0, 1]
    assert list(frame["length"]) == [0, 2, 1, 2]
    assert list(frame["missing"]) == [True, False, False, False]
    assert list(frame["R@1"].drop(2)) == [0, 0.5, 0]
    assert np.isnan(frame["R@1"][2])


def test_barren_questions_count_as_zero_or_not_at_all():
    zero, left_out = summary("zero"), summary("leave_out")
    assert (zero["n"], left_out["n"]) == (4, 3)
    assert zero["n_no_relevant"] == left_out["n_no_relevant"] == 1
    assert zero["n_missing"] == 1
    assert zero["mean_length"] == pytest.approx(5 / 4)
    assert zero["R@1"] == pytest.approx(0.5 / 4)
    assert left_out["R@1"] == pytest.approx(0.5 / 3)


def test_intervals_hold_the_mean():
    row = summary("zero")
    assert row["nDCG@20_low"] < row["nDCG@20"] < row["nDCG@20_high"]
    assert row == summary("zero")


def test_nothing_left_gives_none():
    row = summary("leave_out", {"b": ["z"]}, ["b"])
    assert row["n"] == 0 and row["R@1"] is None and row["R@1_low"] is None


def test_a_ranking_for_a_question_not_asked_is_refused():
    with pytest.raises(CalibragError, match="r ranks 1 questions that were not asked, such as c"):
        score_rankings({"r": RUN}, QRELS, ["R@1"], ["a", "b"])


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="'zero' or 'leave_out'"):
        summary("drop")
