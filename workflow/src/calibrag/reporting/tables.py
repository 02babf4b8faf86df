"""Tables: CSV in full precision for programs, Markdown with intervals and a caption for readers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from calibrag.reporting import escaping

MISSING = "—"
"""What a cell without a value shows."""


def write_report(
    output: Iterable[str | Path],
    frame: pd.DataFrame,
    headings: Mapping[str, str],
    digits: int,
    subject: str,
    n: Mapping[str, int],
    models: Mapping[str, str] = MappingProxyType({}),
    bootstrap: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    shown: pd.DataFrame | None = None,
) -> None:
    """Write a table of the report: its two files, the Markdown with a caption of how it was made.

    Parameters
    ----------
    output
        The CSV and the Markdown file.
    bootstrap
        The block ``bootstrap`` of the configuration where the table has intervals; `caption` has the other parts.
    shown
        The rows that the Markdown holds, where these are not all.
    """
    intervals, seeds = None, {}
    if bootstrap is not None:
        intervals = describe_intervals(bootstrap["level"], bootstrap["resamples"])
        seeds = {"bootstrap": bootstrap["seed"]}
    text = caption(subject, n, seeds, models, intervals, notes)
    write_table(frame, *output, headings, text, digits, digits, shown)


def write_table(
    frame: pd.DataFrame,
    csv_path: str | Path,
    markdown_path: str | Path,
    headings: Mapping[str, str],
    caption: str,
    digits: int,
    interval_digits: int,
    shown: pd.DataFrame | None = None,
) -> None:
    """Write the frame as CSV and as Markdown.

    Parameters
    ----------
    frame
        One row a row; the CSV holds all of its columns in their order, numbers in full precision, missing
        values empty.
    csv_path, markdown_path
        Files to write; missing folders are made.
    headings
        Column -> heading, for the columns of the Markdown in their order.
    caption
        From `caption`; already escaped.
    digits, interval_digits
        Decimals of floats, and of the bounds of intervals, in the Markdown.
    shown
        The rows that the Markdown holds; None for all.
    """
    readable = frame if shown is None else shown
    for path, text in (
        (Path(csv_path), frame.to_csv(index=False, lineterminator="\n")),
        (Path(markdown_path), f"{caption}\n\n{markdown_table(readable, headings, digits, interval_digits)}"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def markdown_table(frame: pd.DataFrame, headings: Mapping[str, str], digits: int, interval_digits: int) -> str:
    """Return the frame as a Markdown table; see `write_table`.

    A column ``x`` beside ``x_low`` and ``x_high`` shows as ``.412 [.33, .49]``. Text is escaped.

    Raises
    ------
    KeyError
        A heading names a column that the frame lacks.
    """
    if absent := [column for column in headings if column not in frame.columns]:
        raise KeyError(f"headings name columns that the table lacks: {absent}; it has {list(frame.columns)}")
    columns = [
        [escaping.markdown(heading), *_cells(frame, column, digits, interval_digits)]
        for column, heading in headings.items()
    ]
    numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in headings]
    widths = [max(3, *map(len, cells)) for cells in columns]
    rows = [
        [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        for row in zip(*columns, strict=True)
    ]
    rule = ["-" * (width - 1) + ":" if right else "-" * width for width, right in zip(widths, numeric, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], rule, *rows[1:]])


def _cells(frame: pd.DataFrame, column: str, digits: int, interval_digits: int) -> list[str]:
    cells = [format_cell(value, digits) for value in frame[column]]
    low, high = f"{column}_low", f"{column}_high"
    if low not in frame.columns or high not in frame.columns:
        return cells
    return [
        cell if pd.isna(bottom) or pd.isna(top) else f"{cell} {_interval(bottom, top, interval_digits)}"
        for cell, bottom, top in zip(cells, frame[low], frame[high], strict=True)
    ]


def _interval(low: float, high: float, digits: int) -> str:
    # escaped, since [a](b) would be a link
    return f"\\[{format_number(low, digits)}, {format_number(high, digits)}\\]"


def format_cell(value: object, digits: int) -> str:
    """Return a value as Markdown: floats rounded, counts with thousands separators, text escaped, None as a dash."""
    if isinstance(value, str):
        return escaping.markdown(value)
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return format_number(float(value), digits)
    return escaping.markdown(str(value))


def format_number(value: float, digits: int) -> str:
    """Return the number rounded, without the zero before the point (``.412``, ``-.05``) and without ``-.000``."""
    text = f"{value:,.{digits}f}"
    if not text.strip("-0."):
        text = text.lstrip("-")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def caption(
    subject: str,
    n: Mapping[str, int],
    seeds: Mapping[str, int],
    models: Mapping[str, str],
    intervals: str | None,
    notes: Sequence[str],
) -> str:
    """Return a caption line in Markdown, its parts escaped and each left out where it is empty.

    Parameters
    ----------
    subject
        What the table shows, as a sentence.
    n
        Questions by collection.
    seeds
        Seed by what it seeds, such as ``bootstrap``.
    models
        Model name by its part, such as ``reader``.
    intervals
        How intervals were made, from `describe_intervals`; None where there are none.
    notes
        Further sentences.
    """
    parts = [
        f"**{escaping.markdown(subject)}**",
        _listed("n", {name: f"{count:,} questions" for name, count in n.items()}),
        f"Intervals: {escaping.markdown(intervals)}." if intervals else "",
        _listed("Seeds", {name: str(seed) for name, seed in seeds.items()}),
        _listed("Models", models),
        *(escaping.markdown(note) for note in notes),
    ]
    return " ".join(part for part in parts if part)


def _listed(what: str, items: Mapping[str, str]) -> str:
    if not items:
        return ""
    return f"{what}: " + "; ".join(escaping.markdown(f"{name} {value}") for name, value in items.items()) + "."


def describe_intervals(level: float, B: int) -> str:
    """Return how the intervals of a table were made, in words."""
    return f"{100 * level:g} % percentile bootstrap over questions, {B:,} resamples"
