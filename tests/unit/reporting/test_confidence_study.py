"""The confidence study's tables show columns that exist, and captions that say how they were made."""

from pathlib import Path

import pandas as pd
import yaml

from calibrag.confidence import comparison, fitted_control, transfer
from calibrag.reporting import confidence_study
from calibrag.reporting.summaries import read_rows
from calibrag.reporting.tables import write_report

CONFIG = yaml.safe_load((Path(__file__).parents[3] / "config.yaml").read_text())
FITTED = CONFIG["confidence"]["fitted"]


def test_headings_name_columns_of_the_tables():
    assert set(confidence_study.CONFIDENCE) <= {"collection", "system", *comparison.COLUMNS}
    assert set(confidence_study.PERMUTED) <= set(fitted_control.SUMMARY)
    empty = transfer.transfer_confidence({}, {}, "s", FITTED, {})
    assert set(confidence_study.TRANSFER) <= set(empty.columns)


def test_captions_say_what_was_fitted_and_tested():
    fitting = confidence_study.describe_fitting(FITTED)
    for part in ("logistic and boosting", "5 folds", "seed 19", "by 3 folds", "sigmoid", "fewer than 5"):
        assert part in fitting
    compared = confidence_study.describe_comparison("four-pass", {"trials": 20_000, "seed": 17})
    assert "answers of four-pass" in compared and "20,000 trials (seed 17)" in compared
    assert "20 times (seed 19)" in confidence_study.describe_permutations(FITTED)
    assert "left out" in confidence_study.describe_transfer()


def test_a_table_of_permuted_labels_is_written(tmp_path):
    rows = [("c", "s", "r", p, 10, 4, 0.5 + p / 10, 0.2, 0.1) for p in range(3)]
    permuted = pd.DataFrame(rows, columns=["collection", "system", *fitted_control.COLUMNS])
    table = fitted_control.summarise_permutations(permuted)
    files = [tmp_path / "permuted.csv", tmp_path / "permuted.md"]
    write_report(files, table, confidence_study.PERMUTED, 2, "Permuted", confidence_study.answered(table))
    assert [cell.strip() for cell in files[1].read_text().splitlines()[-1].split("|")][7:9] == [
        ".50",
        r".65 \[.60, .70\]",
    ]
    assert "c 10 questions" in files[1].read_text()


def test_an_answer_that_says_not_available_is_an_answer(tmp_path):
    path = tmp_path / "answers.csv"
    pd.DataFrame({"answer": ["n/a", "None", "nan", None], "f1": [0.5, None, 1.0, 0.0]}).to_csv(path, index=False)
    rows = read_rows([path])
    assert list(rows["answer"][:3]) == ["n/a", "None", "nan"] and rows["answer"].isna().sum() == 1
    assert rows["f1"].dtype == float and rows["f1"].isna().sum() == 1
