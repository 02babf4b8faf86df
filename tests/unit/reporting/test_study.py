"""The tables of the confidence study: their rows, and that readers see each column that they are promised."""

import numpy as np
import pandas as pd
import pytest

from calibrag.confidence.discrimination import score_signals
from calibrag.evaluation.cost import QUANTITIES
from calibrag.evaluation.list_length import RUNS
from calibrag.reporting import study
from calibrag.reporting.tables import write_report

RESAMPLING = {"resamples": 100, "level": 0.95, "seed": 1}


def errors(system, outcomes, collection="film"):
    finding = {"right_in_another_pass": True, "right_turned_back": None, "turned_back_counted": False}
    known = {"needed": 2, "found_by_filing_pass": 1, "found_by_any_pass": 2, "failed_passes": 0}
    rows = [{"collection": collection, "system": system, "outcome": outcome} | known | finding for outcome in outcomes]
    return pd.DataFrame(rows, dtype=object)


def costs():
    counts = {"n": [3, 1, 3], "n_missing": [1, 1, 1], "n_skipped": [0, 2, 0], "n_error": 0}
    made = {"collection": "film", "system": "s", "pass": ["1", "2", "all"]} | counts
    return pd.DataFrame(made | dict.fromkeys(QUANTITIES, 1.5))


def lengths():
    return pd.concat(
        pd.DataFrame(
            {
                "collection": "film",
                "system": "s",
                "run": run,
                "qid": ["a", "b"],
                "m": value,
                "n_relevant": 1,
                "length": 2,
                "missing": False,
            }
        )
        for run, value in zip(RUNS, (0.1, 0.5, 0.4, 0.2), strict=True)
    )


def signals():
    made = {"qid": ["a", "b", "c"], "group": "g", "answer": "x", "right": [True, False, True], "confidence": 0.5}
    frame = pd.DataFrame(made | {"searches": [1.0, 2.0, np.nan], "tokens": [1.0, 2.0, 3.0]})
    scores = score_signals(frame, 100, 0.95, 1)
    scores.insert(0, "collection", "film")
    scores.insert(1, "system", "s")
    return scores


@pytest.mark.parametrize(
    ("table", "headings", "notes"),
    [
        (signals(), study.SIGNALS, study.describe_signals("four-pass")),
        (study.summarise_errors([errors("s", ["wrong"])]), study.ERRORS, study.describe_errors("four-pass")),
        (costs(), study.COST, study.describe_cost()),
        (study.summarise_lengths(lengths(), ["m"], "zero", RESAMPLING), study.LENGTH, study.describe_lengths()),
    ],
    ids=["signals", "errors", "cost", "length"],
)
def test_a_table_is_written_with_all_of_its_columns_and_what_they_mean(table, headings, notes, tmp_path):
    write_report([tmp_path / "t.csv", tmp_path / "t.md"], table, headings, 3, "What", {"film": 3}, notes=notes)
    caption, _, body = (tmp_path / "t.md").read_text().partition("\n\n")
    assert len(body.splitlines()) == 2 + len(table)
    assert body.splitlines()[0].count("|") == 1 + len(headings)
    assert "film 3 questions" in caption and all(note.split(":")[0].split("@")[0] in caption for note in notes)
    assert set(headings) <= set(pd.read_csv(tmp_path / "t.csv").columns)


def test_outcomes_are_counted_by_system_and_asked_is_their_sum():
    made = [errors("one", ["wrong", "right", "wrong"]), errors("two", ["wrong", "missing", "refused"])]
    table = study.summarise_errors(made)
    assert list(zip(table["system"], table["outcome"], table["n"], strict=True)) == [
        ("one", "right", 1),
        ("one", "wrong", 2),
        ("two", "wrong", 1),
        ("two", "refused", 1),
        ("two", "missing", 1),
    ]
    assert study.asked_of(table) == {"film": 3}
    assert table["right_in_another_pass"].tolist() == [1, 2, 1, 1, 1]
    assert table["right_turned_back"].isna().all()


def test_the_questions_of_a_cost_table_are_those_of_one_pass():
    assert study.asked_of(costs(), study.PASSES) == {"film": 4}


def test_the_answers_of_a_signal_table_hold_those_that_miss_a_signal():
    assert study.answers_of(signals()) == {"film": 3}


def test_the_length_of_each_system_is_told_apart():
    two = pd.concat([lengths(), lengths().assign(system="t", m=0.3)])
    table = study.summarise_lengths(two, ["m"], "zero", RESAMPLING).set_index("system")
    assert table["gain"].tolist() == pytest.approx([0.4, 0])
    assert table.loc["s", "share_cut"] == pytest.approx(0.25)
    assert np.isnan(table.loc["t", "share_cut"])
