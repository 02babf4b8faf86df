"""Cells with spans to tables whose rows are all of one length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from calibrag.records import TableBlock, TextBlock

MOST_COLUMNS = 1000
"""A cell spans at most so many columns (HTML standard, 4.9.11)."""


class Cell(NamedTuple):
    """A cell as the page has it; a ``rowspan`` of 0 reaches to the table's end."""

    text: str
    is_header: bool = False
    rowspan: int = 1
    colspan: int = 1


class _Placed(NamedTuple):
    start: int
    end: int
    cell: Cell


def lay_out(
    rows: Sequence[Sequence[Cell]], captions: Iterable[str] = (), is_infobox: bool = False
) -> list[TextBlock | TableBlock]:
    """Return a table's captions and the table.

    A cell is repeated in each row and column that it spans, so that a row can be read by itself; one that spans a
    whole row is written once, in the first column. Columns in which no cell begins (a colspan wider than the table)
    and blank rows and columns are left out. The leading rows of header cells become the header, joined column by
    column; such a row of one cell that spans the table is a caption. An infobox has labels and values but no header,
    and nothing is repeated in it.
    """
    # a grid in an infobox's clothes: a row of it names three columns or more
    is_infobox = is_infobox and not any(sum(cell.is_header for cell in row) > 2 for row in rows)
    placed = _place(rows)
    starts = sorted({spot.start for line, own in placed for spot in line[:own]})
    grid = [_spread(line, starts, once=is_infobox) for line, _ in placed]
    kept = [column for column in range(len(starts)) if any(row[column] for row in grid)]
    kinds = [_kind(line, starts) for line, _ in placed]
    lines = [([row[column] for column in kept], kind) for row, kind in zip(grid, kinds, strict=True) if any(row)]
    captions = [caption for caption in captions if caption]
    header = [""] * len(kept)
    body = 0
    if not is_infobox and len(kept) > 1:
        body = next((number for number, (_, kind) in enumerate(lines) if not kind), 1)
        leading = [row for row, kind in lines[:body] if kind == "header"]
        captions += [" ".join(filter(None, row)) for row, kind in lines[:body] if kind == "title"]
        header = [" – ".join(dict.fromkeys(filter(None, column))) for column in zip(*leading, strict=True)] or header
    elif not is_infobox and len(lines) > 1 and lines[0][1]:
        header, body = lines[0][0], 1
    blocks: list[TextBlock | TableBlock] = [TextBlock(text=caption) for caption in captions]
    if lines[body:] or any(header):
        blocks.append(TableBlock(header=header, rows=[row for row, _ in lines[body:]]))
    return blocks


def _place(rows: Sequence[Sequence[Cell]]) -> list[tuple[list[_Placed], int]]:
    """Return each row's cells with their columns, its own first, and how many are its own."""
    placed = []
    hanging: list[tuple[int, _Placed]] = []  # (first row that it does not reach, ...)
    for number, row in enumerate(rows):
        hanging = [(end, spot) for end, spot in hanging if end > number]
        column = 0
        own = []
        for cell in row:
            while blocking := next((spot for _, spot in hanging if spot.start <= column < spot.end), None):
                column = blocking.end
            own.append(_Placed(column, column + min(max(cell.colspan, 1), MOST_COLUMNS), cell))
            column = own[-1].end
        placed.append((own + [spot for _, spot in hanging], len(own)))
        hanging += [
            (number + spot.cell.rowspan if spot.cell.rowspan > 0 else len(rows), spot)
            for spot in own
            if spot.cell.rowspan != 1
        ]
    return placed


def _spread(line: Iterable[_Placed], starts: Sequence[int], once: bool) -> list[str]:
    texts = [""] * len(starts)
    for start, end, cell in line:
        first, last = bisect_left(starts, start), bisect_left(starts, end)
        if once or (first == 0 and last == len(starts)):
            last = first + 1
        for column in range(first, last):
            texts[column] = texts[column] or cell.text
    return texts


def _kind(line: Sequence[_Placed], starts: Sequence[int]) -> str | None:
    """Return ``header`` for a row of header cells, ``title`` for one such cell over the whole width, else None."""
    filled = [spot for spot in line if spot.cell.text]
    if not filled or not all(spot.cell.is_header for spot in filled):
        return None
    spans_all = len(filled) == 1 and filled[0].start == 0 and filled[0].end > starts[-1]
    return "title" if spans_all and len(starts) > 1 else "header"
