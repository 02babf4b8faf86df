"""From answers and passages by question to the tables of pairs of runs and of types of questions."""

import numpy as np
import pandas as pd
import pytest

from calibrag.records import Question, write_jsonl
from calibrag.reporting import answer_tables, passage_tables, summaries
from calibrag.reporting.tables import write_report

RESAMPLING = {"resamples": 200, "level": 0.9, "seed": 1}
TESTS = {"trials": 200, "seed": 1}
COMPARED = {"measures": ["accuracy", "HMR"], "reference": "AC-1", "by_type": "AC-2"}
PASSAGES = {"reference": "PG-1", "by_type": "PG-2"}
NAMES = ["accuracy", "accHMR", "AUROC", "nugget_precision", "accHMR(unsupported=leave_out)"]
N = 12


def answers(collection, system, run, rights, confidence=0.5, **fields):
    right = np.arange(N) < rights
    return pd.DataFrame(
        {
            "collection": collection, "system": system, "run": run, "qid": [f"q{i}" for i in range(N)],
            "type": ["multi-hop"] * 5 + [None] * 7, "right": right, "em": right.astype(int), "f1": right.astype(float),
            "confidence": confidence, "refused": False, "missing": False, "error": None, "supported": True,
            "nugget_precision": np.nan, "label": "match",
        } | fields
    )  # fmt: skip


@pytest.fixture
def scores():
    rows = [
        answers("film", "bitem", "AC-1", 6),
        answers("film", "bitem", "AC-2", 9, [0.9] * 9 + [0.2] * 3),
        answers("film", "external", "theirs", 12),
        answers("books", "bitem", "AC-1", 3),
        answers("books", "bitem", "AC-2", 3, 0.0),
    ]
    return pd.concat(rows, ignore_index=True)


def summarised(scores):
    return answer_tables.summarise_answers(scores, NAMES, "present", RESAMPLING)


def test_runs_are_ranked_by_acc_hmr_within_their_collection_those_of_others_too(scores):
    table = summarised(scores)
    assert list(zip(table["collection"], table["system"], table["run"], table["rank"], strict=True)) == [
        ("film", "bitem", "AC-1", 3), ("film", "bitem", "AC-2", 2), ("film", "external", "theirs", 1),
        ("books", "bitem", "AC-1", 1), ("books", "bitem", "AC-2", 2),
    ]  # fmt: skip


def test_runs_that_do_equally_well_have_one_rank():
    right = np.arange(N) < 7
    equal = [answers("film", "bitem", run, 7, np.where(right, c, 0.3)) for run, c in (("a", 0.1 + 0.2), ("b", 0.3))]
    assert list(summarised(pd.concat(equal))["rank"]) == [1, 1]


def test_the_columns_are_named_as_the_measures_and_what_is_undefined_is_a_dash(scores, tmp_path):
    table = summarised(scores)
    for name in NAMES:
        assert {name, f"{name}_low", f"{name}_high"} <= set(table.columns)
    headings = answer_tables.run_headings(table, NAMES)
    notes = answer_tables.describe_runs(table, NAMES)
    write_report([tmp_path / "a.csv", tmp_path / "a.md"], table, headings, 2, "Runs", {}, notes=notes)
    theirs = next(line for line in (tmp_path / "a.md").read_text().splitlines() if "theirs" in line)
    assert [cell.strip() for cell in theirs.split("|")[-3:-1]] == ["—", "—"]
    assert table["nugget_precision"].isna().all() and pd.read_csv(tmp_path / "a.csv")["AUROC"].isna().sum() == 1


def test_measures_without_unsupported_questions_show_where_there_are_some(scores):
    assert "accHMR(unsupported=leave_out)" not in answer_tables.run_headings(summarised(scores), NAMES)
    scores.loc[scores["qid"] == "q11", "supported"] = False
    assert "accHMR(unsupported=leave_out)" in answer_tables.run_headings(summarised(scores), NAMES)


def test_a_caption_says_how_many_resamples_an_interval_leaves_out(scores):
    scores = pd.concat([scores, answers("film", "bitem", "AC-3", 11)])
    notes = " ".join(answer_tables.describe_runs(summarised(scores), NAMES))
    # one wrong answer in twelve: (11/12)^12 of the resamples hold none
    assert "in which a measure is undefined, at most: AUROC 3" in notes


def test_pairs_are_of_one_system_with_the_reference_second_and_all_of_them(scores):
    scores = pd.concat([scores, answers("film", "bitem", "AC-3", 2)], ignore_index=True)
    table = answer_tables.compare_answers(scores, COMPARED, "present", RESAMPLING, TESTS)
    film = table[(table["collection"] == "film") & (table["measure"] == "HMR")]
    assert list(zip(film["first"], film["second"], strict=True)) == [
        ("AC-2", "AC-3"), ("AC-2", "AC-1"), ("AC-3", "AC-1")
    ]  # fmt: skip
    assert set(answer_tables.PAIRS) <= set(table.columns) and "external" not in set(table["system"])
    shown = answer_tables.against_reference(table, "AC-1")
    assert len(shown) == len(table) - 2 and set(shown["second"]) == {"AC-1"}
    # a system that lacks the reference shows all of its pairs
    assert len(answer_tables.against_reference(table, "AC-9")) == len(table)


def test_tables_without_a_pair_have_their_columns(scores):
    alone = scores[scores["run"] == "theirs"]
    table = answer_tables.compare_answers(alone, COMPARED, "present", RESAMPLING, TESTS)
    assert table.empty and set(answer_tables.PAIRS) <= set(table.columns)
    assert answer_tables.against_reference(table, "AC-1").empty
    types = answer_tables.compare_types(alone, COMPARED, "present", RESAMPLING, TESTS)
    assert summaries.describe_lacking(alone, types) == ["Without one of the two runs: external on film."]
    assert types.empty and set(answer_tables.TYPES) <= set(types.columns)


def test_answers_by_type_name_questions_without_one_and_add_up(scores):
    table = answer_tables.compare_types(scores, COMPARED, "present", RESAMPLING, TESTS)
    film = table[(table["collection"] == "film") & (table["measure"] == "accuracy")]
    assert list(zip(film["type"], film["n"], strict=True)) == [("-", 7), ("multi-hop", 5)]
    assert list(film["value_first"]) == pytest.approx([4 / 7, 1])
    assert list(film["difference"]) == pytest.approx([3 / 7, 0])
    assert (film["difference_low"] <= film["difference"]).all() and (
        film["difference"] <= film["difference_high"]
    ).all()


def passages(collection, system, run, values, missing=0):
    values = np.array(values, float)
    return pd.DataFrame(
        {
            "collection": collection, "system": system, "run": run, "qid": [f"q{i}" for i in range(len(values))],
            "nDCG@20": values, "n_relevant": 10, "length": 20, "n_found": (10 * values).round().astype(int),
            "missing": np.arange(len(values)) < missing,
        }
    )  # fmt: skip


@pytest.fixture
def filed():
    rows = [
        passages("film", "bitem", "PG-1", [0.1, 0.2, 0.3, 0.4]),
        passages("film", "bitem", "PG-2", [0.3, 0.2, 0.5, 0.3]),
        passages("film", "bitem-no-dense", "PG-1", [0.0, 0.2, 0.1], missing=1),
        passages("film", "bitem-no-dense", "PG-2", [0.0, 0.1, 0.1]),
    ]
    return pd.concat(rows, ignore_index=True)


def test_passage_runs_are_compared_on_shared_questions_each_after_what_it_is_compared_with(filed):
    table = passage_tables.compare_passages(filed, ["nDCG@20"], "PG-1", "zero", RESAMPLING, TESTS)
    assert len(table) == 6 and set(table["n"]) == {3}
    shown = passage_tables.comparable(table, filed, "PG-1")
    assert list(zip(shown["first"], shown["second"], strict=True)) == [
        ("bitem-no-dense PG-2", "bitem PG-2"), ("bitem-no-dense PG-2", "bitem-no-dense PG-1"),
        ("bitem PG-2", "bitem PG-1"), ("bitem-no-dense PG-1", "bitem PG-1"),
    ]  # fmt: skip
    row = shown.iloc[2]
    assert row["difference"] == pytest.approx(0.4 / 3) and (row["won"], row["lost"], row["tied"]) == (2, 0, 1)
    assert shown.iloc[3]["n_missing"] == 1


def test_passage_runs_by_type_say_how_many_relevant_passages_they_file(filed, tmp_path):
    file = tmp_path / "questions.jsonl"
    kinds = ["multi-hop", "multi-hop", None, "comparison"]
    write_jsonl(file, [Question(qid=f"q{i}", text="?", type=kind, answers=["a"]) for i, kind in enumerate(kinds)])
    types = passage_tables.read_types({"film": file})
    assert types["film", "q2"] == "-"
    table = passage_tables.compare_types(filed, types, ["nDCG@20"], PASSAGES, "zero", RESAMPLING)
    own = table[table["system"] == "bitem"].set_index("type")
    assert list(own.index) == ["-", "comparison", "multi-hop"] and list(own["n"]) == [1, 1, 2]
    row = own.loc["multi-hop"]
    assert (row["value_first"], row["value_second"], row["difference"]) == pytest.approx((0.25, 0.15, 0.1))
    assert (row["found_first"], row["found_second"]) == (2.5, 1.5)
    assert (row["won"], row["lost"], row["tied"]) == (1, 0, 1)
    assert passage_tables.compare_types(
        filed, types, ["nDCG@20"], PASSAGES | {"by_type": "PG-9"}, "zero", RESAMPLING
    ).empty


def test_a_table_may_show_fewer_rows_than_its_file_has(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3]})
    write_report([tmp_path / "a.csv", tmp_path / "a.md"], frame, {"x": "x"}, 2, "Numbers", {}, shown=frame[:1])
    assert len(pd.read_csv(tmp_path / "a.csv")) == 3
    assert (tmp_path / "a.md").read_text().splitlines()[2:] == ["|   x |", "| --: |", "|   1 |"]
    assert "Shown are 1 rows" in summaries.describe_shown(frame, frame[:1], "PG-1")
