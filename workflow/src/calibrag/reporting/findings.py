"""What tables say, in sentences, of which every number is a cell of theirs or counts their rows.

A difference is beyond noise where its interval leaves out 0, else within noise; of two that nobody compared, nothing is
said. Names from files are in the sentences as they are: what shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibrag.reporting.cells import format_number

Interval = tuple[float, float, float]
"""A value with the two ends of its interval."""

Pairs = Callable[[str, str, str], Interval | None]
"""Of a collection and two names, the difference of the first less the second; None where nobody compared them."""

_EQUAL = 1e-12


class Ranked(NamedTuple):
    """What is ranked in a table, and by what."""

    kind: str
    """One of them, as a noun."""
    names: Sequence[str]
    """Columns that name a row, together."""
    measure: str
    """The column by which a higher value is better."""


def shown(value: float, low: float, high: float, digits: int) -> str:
    """Return the value with its interval, where it has one."""
    if np.isnan(low) or np.isnan(high):
        return format_number(value, digits)
    return f"{format_number(value, digits)} [{format_number(low, digits)}, {format_number(high, digits)}]"


def is_beyond_noise(low: float, high: float) -> bool:
    """Return whether an interval leaves out 0."""
    return low > 0 or high < 0


def noise(difference: Interval) -> str:
    """Return in words whether a difference is beyond noise; without an interval nobody can tell."""
    _, low, high = difference
    if np.isnan(low) or np.isnan(high):
        return "without an interval"
    return "beyond noise" if is_beyond_noise(low, high) else "within noise"


def interval_of(row: pd.Series, column: str) -> Interval:
    """Return a cell with its interval, NaN for what is missing."""
    return tuple(float(row[f"{column}{end}"]) for end in ("", "_low", "_high"))  # type: ignore[return-value]


def listed(names: Iterable[str]) -> str:
    """Return names as an enumeration: ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def by_collection(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each collection, in the order of the table."""
    return [(str(name), rows) for name, rows in table.groupby("collection", sort=False)]


def pairs_of(table: pd.DataFrame, measure: str, system: bool) -> Pairs:
    """Return the differences that a table of pairs has by this measure, in either direction.

    Parameters
    ----------
    table
        Columns collection, measure, first, second, difference with its ends.
    system
        Whether the pairs are runs of one system, named in the column system, so that names are ``system run``.
    """
    known: dict[tuple[str, str, str], Interval] = {}
    for _, row in table[table["measure"] == measure].iterrows():
        before = f"{row['system']} " if system else ""
        first, second = f"{before}{row['first']}", f"{before}{row['second']}"
        value, low, high = interval_of(row, "difference")
        known[row["collection"], first, second] = (value, low, high)
        known[row["collection"], second, first] = (-value, -high, -low)
    return lambda collection, first, second: known.get((collection, first, second))


def rank_sentences(table: pd.DataFrame, ranked: Ranked, pairs: Pairs, digits: int) -> list[str]:
    """Return a sentence a collection: what is best, by how much, and whether that is more than noise."""
    return [_rank_sentence(collection, rows, ranked, pairs, digits) for collection, rows in by_collection(table)]


def _rank_sentence(collection: str, rows: pd.DataFrame, ranked: Ranked, pairs: Pairs, digits: int) -> str:
    measure, kind = ranked.measure, ranked.kind
    full = rows[list(ranked.names)].agg(" ".join, axis=1)
    # one system goes without saying
    brief = rows[ranked.names[-1]] if rows[list(ranked.names[:-1])].drop_duplicates().shape[0] <= 1 else full
    known = rows.assign(full=full, brief=brief).dropna(subset=[measure])
    absent = len(rows) - len(known)
    lacking = f" {absent} of {len(rows)} {kind}s have no value." if absent else ""
    if known.empty:
        return f"On {collection} no {kind} has a value of {measure}."
    known = known.sort_values(measure, ascending=False, kind="stable")
    place = (known[measure] < known[measure].iloc[0] - _EQUAL).to_numpy()
    first, rest = known[~place], known[place]
    best = shown(*interval_of(first.iloc[0], measure), digits)
    if len(known) == 1:
        return f"On {collection} there is one {kind} alone, {first['brief'].iloc[0]}, with {measure} {best}.{lacking}"
    if rest.empty:
        return f"On {collection} all {len(known)} {kind}s have the same {measure}, {best}.{lacking}"
    second = rest.iloc[0]
    next_one = f"{second['brief']} ({shown(*interval_of(second, measure), digits)})"
    if len(first) > 1:
        return (
            f"On {collection} {listed(first['brief'])} share the best {measure}, {best}; next is {next_one}.{lacking}"
        )
    said = f"By {measure} the best {kind} on {collection} is {first['brief'].iloc[0]} ({best}), before {next_one}"
    difference = pairs(collection, first["full"].iloc[0], second["full"])
    told = f"; the difference is {shown(*difference, digits)}: {noise(difference)}" if difference else ""
    return f"{said}{told}.{lacking}"


def type_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence a pair of runs: for how many types their difference is beyond noise, by measure."""
    said = []
    for (first, second), pair in table.groupby(["first", "second"], sort=False):
        counts = [
            f"{sum(map(is_beyond_noise, rows['difference_low'], rows['difference_high']))} of {len(rows)} in {measure}"
            for measure, rows in pair.groupby("measure", sort=False)
        ]
        said.append(f"By collection and type of question, {first} less {second} is beyond noise for {listed(counts)}.")
    return said


def length_sentences(table: pd.DataFrame, measure: str, digits: int) -> list[str]:
    """Return a sentence a system: the gain of PG-2 over PG-1, and what is left of it at one length."""
    return [
        f"On {row['collection']} PG-2 of {row['system']} gains {shown(*gain, digits)} over PG-1 in {measure}, "
        f"{noise(gain)}; cut to PG-1's length it gains {shown(*interval_of(row, 'gain_cut'), digits)}."
        for _, row in table[table["measure"] == measure].iterrows()
        for gain in [interval_of(row, "gain")]
    ]


def collection_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence a collection: what it holds."""
    return [
        f"{row['collection']} has {int(row['n']):,} questions, {int(row['supported']):,} of them supported, and "
        f"{int(row['passages']):,} passages of {int(row['documents']):,} documents."
        for _, row in table.iterrows()
    ]


def no_pairs(collection: str, first: str, second: str) -> None:
    """Return None: nobody compared any two."""
