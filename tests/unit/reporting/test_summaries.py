"""From scores by question to the rows of the tables of rankings."""

import numpy as np
import pandas as pd
import pytest

from calibrag.evaluation.passage_runs import score_rankings
from calibrag.reporting.summaries import SIGNIFICANCE, compare_rankings, ranking_headings, summarise_rankings
from calibrag.reporting.tables import write_report

MEASURES = ["nDCG@20", "R@1"]
RESAMPLING = {"resamples": 100, "level": 0.9, "seed": 1}
TESTS = {"trials": 200, "seed": 1}
QRELS = {"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 0}, "d": {"x": 2}}
RUNS = {"good": {"a": ["x"], "b": ["y"], "d": ["x"]}, "poor": {"a": ["n", "x"], "b": ["n"], "c": ["z"]}}


@pytest.fixture
def scores():
    frame = score_rankings(RUNS, QRELS, MEASURES, list(QRELS)).rename(columns={"run": "retriever"})
    return pd.concat([frame.assign(collection=name) for name in ("one", "two")], ignore_index=True)


def test_rankings_are_placed_within_their_collection_by_the_first_measure(scores):
    table = summarise_rankings(scores, ["collection", "retriever"], MEASURES, "zero", RESAMPLING)
    assert list(zip(table["collection"], table["retriever"], table["rank"], strict=True)) == [
        ("one", "good", 1), ("one", "poor", 2), ("two", "good", 1), ("two", "poor", 2)
    ]  # fmt: skip
    assert ranking_headings(["retriever"], MEASURES)["rank"] == "rank by nDCG@20"


def test_a_pair_is_compared_on_every_question_and_says_how_many_were_missing(scores):
    table = compare_rankings(scores, "retriever", MEASURES, "zero", RESAMPLING, TESTS)
    assert set(SIGNIFICANCE) <= set(table.columns)
    assert list(zip(table["collection"], table["measure"], strict=True)) == [
        (collection, measure) for collection in ("one", "two") for measure in MEASURES
    ]
    row = table.query("measure == 'R@1'").iloc[0]
    # good finds a, b and d at once, poor none of them; c has nothing to be found
    assert (row["n"], row["won"], row["lost"], row["tied"]) == (4, 3, 0, 1)
    assert row["difference"] == pytest.approx(3 / 4)
    # good has nothing for c, poor nothing for d
    assert row["n_missing"] == 2


def test_questions_without_a_relevant_passage_can_be_left_out(scores):
    row = compare_rankings(scores, "retriever", ["R@1"], "leave_out", RESAMPLING, TESTS).iloc[0]
    assert (row["n"], row["n_missing"]) == (3, 1)
    assert row["difference"] == 1


def test_the_order_of_the_questions_changes_nothing(scores):
    shuffled = scores.sample(frac=1, random_state=3).sort_values(["collection", "retriever"], kind="stable")
    one, two = (compare_rankings(each, "retriever", MEASURES, "zero", RESAMPLING, TESTS) for each in (scores, shuffled))
    pd.testing.assert_frame_equal(one, two)


def test_a_report_states_how_its_intervals_were_made_and_escapes_names(tmp_path):
    files = [tmp_path / "t.csv", tmp_path / "t.md"]
    frame = pd.DataFrame({"retriever": ["<b>|"], "x": [np.float64(0.5)]})
    write_report(
        files, frame, {"retriever": "retriever", "x": "x"}, 3, "Rankings", {}, bootstrap=RESAMPLING, notes=["_n_"]
    )
    text = files[1].read_text()
    assert "90 % percentile bootstrap over questions, 100 resamples. Seeds: bootstrap 1." in text
    assert "\\_n\\_" in text and "&lt;b&gt;&#124;" in text
    assert files[0].read_text() == "retriever,x\n<b>|,0.5\n"
