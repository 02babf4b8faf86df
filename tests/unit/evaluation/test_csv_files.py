"""CSV files with texts: what is written is read back, letter by letter, by pandas and by Python's reader."""

import csv

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.confidence.extraction import COLUMNS, read_signals
from calibrag.evaluation.csv_files import write_frame, write_rows
from calibrag.reporting.summaries import read_rows

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12) | st.sampled_from(
    ["a\rb", "a\r\nb", "a\nb", '"', ",", "NA", "None", "nan", " ", "=1+1"]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(text, min_size=1, max_size=4))
def test_answers_are_read_back_letter_by_letter(tmp_path_factory, answers):
    path = tmp_path_factory.mktemp("csv") / "answers.csv"
    frame = pd.DataFrame({"qid": [f"q{n}" for n in range(len(answers))], "answer": answers, "right": True, "f1": 0.5})
    frame.loc[0, "f1"] = None
    write_frame(path, frame)
    again = read_rows([path])
    assert list(again["answer"]) == answers and list(again["right"]) == [True] * len(answers)
    assert pd.isna(again["f1"][0]) and again["f1"].dtype == float


@settings(max_examples=60, deadline=None)
@given(st.lists(text, min_size=1, max_size=4))
def test_signals_are_read_back_letter_by_letter(tmp_path_factory, answers):
    path = tmp_path_factory.mktemp("csv") / "signals.csv"
    rows = [(f"q{n}", "g", answer, n % 2 == 0, 0.5, None) for n, answer in enumerate(answers)]
    write_frame(path, pd.DataFrame(rows, columns=[*COLUMNS, "turns"]).astype({"turns": float}))
    again = read_signals(path)
    assert list(again["answer"]) == answers and again["right"].dtype == bool
    assert again["turns"].isna().all() and again["turns"].dtype == float


@settings(max_examples=60, deadline=None)
@given(st.lists(text, min_size=1, max_size=4))
def test_rows_are_read_back_letter_by_letter(tmp_path_factory, answers):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    write_rows(path, ["n", "answer", "right"], ((n, answer, True) for n, answer in enumerate(answers)))
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["answer"] for row in rows] == answers
    assert [(row["n"], row["right"]) for row in rows] == [(str(n), "True") for n in range(len(answers))]
