"""Documents to passages (BITEM, section 2).

Running text is packed sentence by sentence up to a target, under a ceiling, without overlap; a table is a passage
of its own; no passage crosses a section. Words are separated by whitespace; the bar between cells is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from calibrag.corpus.sentences import sentence_spans
from calibrag.errors import ConfigError
from calibrag.records import Document, Passage, TableBlock, TextBlock

CELL_SEPARATOR = " | "


class Span(NamedTuple):
    """A stretch of a rendered document, from ``start`` up to ``end``, counted in characters."""

    start: int
    end: int


class TextRun(NamedTuple):
    """Neighbouring text blocks of a section, packed as one."""

    heading: str | None
    span: Span


class TableLines(NamedTuple):
    """A table's header and rows, one line each; ``header`` is None where no column has a name."""

    heading: str | None
    header: Span | None
    rows: list[Span]


def count_words(text: str) -> int:
    """Return the number of words that the target and the ceiling count."""
    return sum(token != "|" for token in text.split())


def render_row(cells: Iterable[str]) -> str:
    """Return a row, or a header, as one line; whitespace within a cell is collapsed. All cells blank give ''."""
    cleaned = [" ".join(cell.split()) for cell in cells]
    return CELL_SEPARATOR.join(cleaned) if any(cleaned) else ""


def render(document: Document) -> str:
    """Return the plain text of a document: headings, text blocks and tables, a blank line between them.

    Passages' offsets count characters of it.
    """
    return _lay_out(document)[0]


def chunk(document: Document, target_words: int, ceiling_words: int) -> Iterator[Passage]:
    """Yield the passages of a document in order; ``passage_id`` is ``{doc_id}#{ordinal}``.

    Parameters
    ----------
    target_words
        Sentences are added while a passage stays at or below it.
    ceiling_words
        A sentence above it is cut at it; a table above it is split by rows, its header repeated in each part. A
        single row that is above it alone stays whole.

    Raises
    ------
    ConfigError
        The target is below 1 or above the ceiling.
    """
    if not 1 <= target_words <= ceiling_words:
        problem = f"must be from 1 to ceiling_words ({ceiling_words}) (got {target_words})"
        raise ConfigError("corpus.chunking.target_words", problem)
    text, parts = _lay_out(document)
    ordinal = 0
    for part in parts:
        if isinstance(part, TextRun):
            kind, pieces = "text", _pack_sentences(text, part.span, target_words, ceiling_words)
        else:
            kind, pieces = "table", _pack_rows(text, part, ceiling_words)
        for span, passage_text in pieces:
            yield Passage(
                passage_id=f"{document.doc_id}#{ordinal}",
                doc_id=document.doc_id,
                title=document.title,
                heading=part.heading,
                kind=kind,
                ordinal=ordinal,
                start=span.start,
                end=span.end,
                text=passage_text,
            )
            ordinal += 1


class _Page:
    """A text under construction that knows where each addition went."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0

    def add(self, text: str, separator: str) -> Span:
        if self.length:
            self.pieces.append(separator)
            self.length += len(separator)
        start = self.length
        self.pieces.append(text)
        self.length += len(text)
        return Span(start, self.length)


def _lay_out(document: Document) -> tuple[str, list[TextRun | TableLines]]:
    """Return the rendered document and its parts that become passages; blank blocks leave no trace."""
    page = _Page()
    parts: list[TextRun | TableLines] = []
    for section in document.sections:
        heading = (section.heading or "").strip() or None
        if heading:
            page.add(heading, "\n\n")
        for block_type, blocks in groupby(section.blocks, key=type):
            if block_type is TextBlock:
                spans = [page.add(block.text.strip(), "\n\n") for block in blocks if block.text.strip()]
                if spans:
                    parts.append(TextRun(heading, Span(spans[0].start, spans[-1].end)))
            else:
                parts += [lines for block in blocks if (lines := _lay_out_table(page, heading, block))]
    return "".join(page.pieces), parts


def _lay_out_table(page: _Page, heading: str | None, table: TableBlock) -> TableLines | None:
    separator = "\n\n"
    header = None
    if line := render_row(table.header):
        header = page.add(line, separator)
        separator = "\n"
    rows = []
    for cells in table.rows:
        if line := render_row(cells):
            rows.append(page.add(line, separator))
            separator = "\n"
    return TableLines(heading, header, rows) if header or rows else None


def _pack_sentences(text: str, run: Span, target: int, ceiling: int) -> Iterator[tuple[Span, str]]:
    start = end = None
    words = 0
    for sentence in _sentences(text, run, ceiling):
        length = count_words(text[sentence.start : sentence.end])
        if start is not None and words + length > target:
            yield Span(start, end), text[start:end]
            start, words = None, 0
        if start is None:
            start = sentence.start
        end = sentence.end
        words += length
    if start is not None:
        yield Span(start, end), text[start:end]


def _sentences(text: str, run: Span, ceiling: int) -> Iterator[Span]:
    """Yield the sentences of a run; one above the ceiling comes in pieces of ``ceiling`` words and a rest."""
    for first, last in sentence_spans(text[run.start : run.end]):
        span = Span(run.start + first, run.start + last)
        if count_words(text[span.start : span.end]) <= ceiling:
            yield span
            continue
        start, end, words = None, span.start, 0
        for token, counts in _token_spans(text, span):
            if words + counts > ceiling:
                yield Span(start, end)
                start, words = None, 0
            start = token.start if start is None else start
            end = token.end
            words += counts
        yield Span(start, end)


def _token_spans(text: str, span: Span) -> Iterator[tuple[Span, int]]:
    """Yield each whitespace-separated token with the number of words that it counts for (0 or 1)."""
    at = span.start
    for token in text[span.start : span.end].split():
        start = text.index(token, at)
        at = start + len(token)
        yield Span(start, at), int(token != "|")


def _pack_rows(text: str, table: TableLines, ceiling: int) -> Iterator[tuple[Span, str]]:
    header = text[slice(*table.header)] if table.header else ""
    if not table.rows:
        yield table.header, header
        return
    header_words = count_words(header)
    parts: list[list[Span]] = [[]]
    words = header_words
    for row in table.rows:
        length = count_words(text[row.start : row.end])
        if parts[-1] and words + length > ceiling:
            parts.append([])
            words = header_words
        parts[-1].append(row)
        words += length
    for number, rows in enumerate(parts):
        span = Span(rows[0].start, rows[-1].end)
        if number == 0 and table.header:
            span = Span(table.header.start, span.end)
            yield span, text[span.start : span.end]
        else:
            body = text[span.start : span.end]
            yield span, f"{header}\n{body}" if header else body
