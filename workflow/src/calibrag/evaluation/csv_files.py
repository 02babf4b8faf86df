"""CSV files that hold texts of corpora and models."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from calibrag.records import whole_file


def write_frame(path: str | Path, frame: pd.DataFrame) -> None:
    """Write a table with every text in quotes: a bare carriage return in one ends no row."""
    with whole_file(path) as partial:
        frame.to_csv(partial, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence]) -> None:
    """Write rows below the names of their columns, as `write_frame` does."""
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)
