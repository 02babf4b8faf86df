"""Tables: CSV in full precision for programs, Markdown and LaTeX with intervals and a caption for readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from calibrag.reporting import escaping
from calibrag.reporting.captions import Caption, describe_intervals
from calibrag.reporting.cells import Dialect, cells, check_headings
from calibrag.reporting.latex import latex_table

# brackets are escaped, since [a](b) would be a link
MARKDOWN = Dialect(text=escaping.markdown, minus="-", missing="—", interval="\\[{}, {}\\]")


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
    """Write a table of the report: its files, those for readers with a caption of how it was made.

    Parameters
    ----------
    bootstrap
        The block ``bootstrap`` of the configuration where the table has intervals; `Caption` has the other parts and
        `write_table` the rest.
    """
    intervals, seeds = None, {}
    if bootstrap is not None:
        intervals = describe_intervals(bootstrap["level"], bootstrap["resamples"])
        seeds = {"bootstrap": bootstrap["seed"]}
    caption = Caption(subject, n, seeds, models, intervals, notes)
    write_table(frame, output, headings, caption, digits, digits, shown)


def write_table(
    frame: pd.DataFrame,
    files: Iterable[str | Path],
    headings: Mapping[str, str],
    caption: Caption,
    digits: int,
    interval_digits: int,
    shown: pd.DataFrame | None = None,
) -> None:
    """Write the frame into each file, in the format that its name ends in: ``.csv``, ``.md`` or ``.tex``.

    Parameters
    ----------
    frame
        One row a row; the CSV holds all of its columns in their order, numbers in full precision, missing
        values empty.
    files
        Files to write; missing folders are made.
    headings
        Column -> heading, for the columns of Markdown and LaTeX in their order.
    caption
        Stands above the table.
    digits, interval_digits
        Decimals of floats, and of the bounds of intervals, in Markdown and LaTeX.
    shown
        The rows that Markdown and LaTeX hold; None for all.

    Raises
    ------
    ValueError
        A file's name ends in something else.
    """
    readable = frame if shown is None else shown
    formats = {
        ".csv": lambda: frame.to_csv(index=False, lineterminator="\n"),
        ".md": lambda: f"{markdown_caption(caption)}\n\n{markdown_table(readable, headings, digits, interval_digits)}",
        ".tex": lambda: latex_table(readable, headings, caption, digits, interval_digits),
    }
    for path in map(Path, files):
        if path.suffix not in formats:
            raise ValueError(f"a table's file must end in one of {', '.join(formats)} (got {path})")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(formats[path.suffix](), encoding="utf-8", newline="\n")


def markdown_caption(caption: Caption) -> str:
    """Return the caption as a line of Markdown, escaped."""
    return " ".join([f"**{escaping.markdown(caption.subject)}**", *map(escaping.markdown, caption.sentences)])


def markdown_table(frame: pd.DataFrame, headings: Mapping[str, str], digits: int, interval_digits: int) -> str:
    """Return the frame as a Markdown table; see `write_table`.

    A column ``x`` beside ``x_low`` and ``x_high`` shows as ``.412 [.33, .49]``. Text is escaped.

    Raises
    ------
    KeyError
        A heading names a column that the frame lacks.
    """
    check_headings(frame, headings)
    columns = [
        [escaping.markdown(heading), *cells(frame, column, digits, interval_digits, MARKDOWN)]
        for column, heading in headings.items()
    ]
    numeric = [pd.api.types.is_numeric_dtype(frame[column]) for column in headings]
    widths = [max(3, *map(len, column)) for column in columns]
    rows = [
        [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        for row in zip(*columns, strict=True)
    ]
    rule = ["-" * (width - 1) + ":" if right else "-" * width for width, right in zip(widths, numeric, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], rule, *rows[1:]])
