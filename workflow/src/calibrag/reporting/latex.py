"""Tables in LaTeX: longtables of booktabs, of which a wide one goes on in further tables that repeat its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from calibrag.reporting import escaping
from calibrag.reporting.captions import Caption
from calibrag.reporting.cells import Dialect, cells, check_headings

LATEX = Dialect(text=escaping.latex, minus="$-$", missing="---", interval="[{}, {}]")

WIDTH = 102
"""Characters of a row, two between columns included, that an A4 page holds in scriptsize."""

LONGEST = 28
"""Characters of a text column that is not broken into lines."""

_PREAMBLE = r"""% For \input; wants \usepackage{booktabs,longtable}; letters beyond Latin want LuaLaTeX or XeLaTeX
\begingroup
\scriptsize
\setlength{\tabcolsep}{3pt}
\setlength{\LTcapwidth}{\linewidth}
"""


def latex_table(
    frame: pd.DataFrame, headings: Mapping[str, str], caption: Caption, digits: int, interval_digits: int
) -> str:
    """Return the frame as LaTeX, to be read with ``\\input``; the parameters are those of `tables.write_table`.

    Numbers stand on the right, long text is broken into lines, and pages break between rows under repeated headings.
    A table wider than `WIDTH` is cut between columns; each part begins with the keys of the rows, which are the columns
    of text before the first count.

    Raises
    ------
    KeyError
        A heading names a column that the frame lacks.
    """
    check_headings(frame, headings)
    columns = {column: cells(frame, column, digits, interval_digits, LATEX) for column in headings}
    shown = {column: cells(frame, column, digits, interval_digits, LATEX._replace(text=str)) for column in headings}
    widths = {column: max(map(len, [headings[column], *shown[column]])) for column in headings}
    numeric = {column: pd.api.types.is_numeric_dtype(frame[column]) for column in headings}
    kinds = {column: _kind(widths[column], numeric[column]) for column in headings}
    parts = _parts({column: min(width, LONGEST) + 2 for column, width in widths.items()}, numeric)
    tables = [
        _longtable(
            _caption(caption, number, len(parts)),
            [kinds[column] for column in part],
            [escaping.latex(headings[column]) for column in part],
            list(zip(*(columns[column] for column in part), strict=True)),
        )
        for number, part in enumerate(parts, 1)
    ]
    return _PREAMBLE + "".join(tables) + "\\endgroup\n"


def _kind(width: int, numeric: bool) -> str:
    return "r" if numeric else "l" if width <= LONGEST else f"p{{{LONGEST / 2:g}em}}"


def _parts(widths: Mapping[str, int], numeric: Mapping[str, bool]) -> list[list[str]]:
    """Return the columns of each part: as many as fit beside the keys, and at least one."""
    columns = list(widths)
    keys = [column for column in columns[: columns.index("n") if "n" in columns else None] if not numeric[column]]
    # of text alone, all that is beyond the first column may be cut off
    keys = keys if len(keys) < len(columns) else keys[:1]
    start = sum(widths[column] for column in keys)
    parts, used = [list(keys)], start
    for column in (column for column in columns if column not in keys):
        if used + widths[column] > WIDTH and len(parts[-1]) > len(keys):
            parts.append(list(keys))
            used = start
        parts[-1].append(column)
        used += widths[column]
    # what fits into one table keeps its order
    return parts if len(parts) > 1 else [columns]


def _caption(caption: Caption, number: int, parts: int) -> str:
    subject = f"\\textbf{{{escaping.latex(caption.subject)}}}"
    part = f"Part {number} of {parts}." if parts > 1 else ""
    # how it was made is told once
    rest = map(escaping.latex, caption.sentences) if number == 1 else ()
    return " ".join(filter(None, [subject, part, *rest]))


def _longtable(caption: str, kinds: Sequence[str], headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = f"\\toprule\n{_row(headings)}\\midrule\n"
    return (
        f"\\begin{{longtable}}{{{''.join(kinds)}}}\n\\caption{{{caption}}}\\\\\n{head}\\endfirsthead\n"
        f"{head}\\endhead\n\\bottomrule\n\\endfoot\n{''.join(map(_row, rows))}\\end{{longtable}}\n"
    )


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\\n"
