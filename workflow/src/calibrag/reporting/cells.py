"""Cells of tables as text: numbers rounded, intervals beside their values, words escaped for the format at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd


class Dialect(NamedTuple):
    """How a format writes what stands in a cell."""

    text: Callable[[str], str]
    """Makes any text harmless."""
    minus: str
    """The sign of a negative number."""
    missing: str
    """What a cell without a value shows."""
    interval: str
    """An interval, with places for its two ends."""


def check_headings(frame: pd.DataFrame, headings: Iterable[str]) -> None:
    """Raise KeyError where a heading names a column that the frame lacks."""
    if absent := [column for column in headings if column not in frame.columns]:
        raise KeyError(f"headings name columns that the table lacks: {absent}; it has {list(frame.columns)}")


def cells(frame: pd.DataFrame, column: str, digits: int, interval_digits: int, dialect: Dialect) -> list[str]:
    """Return a column as text; with ``x_low`` and ``x_high`` beside it, ``x`` has its interval behind the value."""
    values = [format_cell(value, digits, dialect) for value in frame[column]]
    low, high = f"{column}_low", f"{column}_high"
    if low not in frame.columns or high not in frame.columns:
        return values
    return [
        value if pd.isna(bottom) or pd.isna(top) else f"{value} {_interval(bottom, top, interval_digits, dialect)}"
        for value, bottom, top in zip(values, frame[low], frame[high], strict=True)
    ]


def _interval(low: float, high: float, digits: int, dialect: Dialect) -> str:
    return dialect.interval.format(*(_signed(format_number(end, digits), dialect) for end in (low, high)))


def format_cell(value: object, digits: int, dialect: Dialect) -> str:
    """Return a value: floats rounded, counts with thousands separators, text escaped, None as the missing mark."""
    if isinstance(value, str):
        return dialect.text(value)
    if value is None or pd.isna(value):
        return dialect.missing
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return _signed(f"{value:,}", dialect)
    if isinstance(value, float | np.floating):
        return _signed(format_number(float(value), digits), dialect)
    return dialect.text(str(value))


def _signed(number: str, dialect: Dialect) -> str:
    return number.replace("-", dialect.minus, 1)


def format_number(value: float, digits: int) -> str:
    """Return the number rounded, without the zero before the point (``.412``, ``-.05``) and without ``-.000``."""
    text = f"{value:,.{digits}f}"
    if not text.strip("-0."):
        text = text.lstrip("-")
    return re.sub(r"^(-?)0\.", r"\1.", text)
