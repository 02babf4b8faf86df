"""Documents to passages (BITEM, section 2).

Running text is packed sentence by sentence up to a target, under a ceiling, without overlap; a table is a passage
of its own; no passage crosses a section. Words are what whitespace separates; the bar between cells is none, and an
ideograph or a kana is one by itself, since nothing separates those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from typing import NamedTuple

import regex

from calibrag.corpus.batching import batched_by_weight
from calibrag.corpus.sentences import sentence_spans
from calibrag.corpus.workers import in_order
from calibrag.errors import ConfigError
from calibrag.records import Document, Passage, TableBlock, TextBlock

CELL_SEPARATOR = " | "

_UNSPACED = regex.compile(r"[\p{Ideo}\p{Hiragana}\p{Katakana}]")
# the whitespace of str.split, which is more than that of regex
_WORDS = regex.compile(
    r"""[^\s\x1c-\x1f\w]*[\p{Ideo}\p{Hiragana}\p{Katakana}]\p{M}*[^\s\x1c-\x1f\w]*
    |[^\s\x1c-\x1f\p{Ideo}\p{Hiragana}\p{Katakana}]+""",
    regex.VERBOSE,
)
_DOCUMENTS, _CHARACTERS = 500, 500_000
"""What a worker takes at a time: so many documents, or the fewer that reach so many characters."""


class Span(NamedTuple):
    """A stretch of a rendered document, from ``start`` up to ``end``, counted in characters."""

    start: int
    end: int


class Piece(NamedTuple):
    """A passage to be: where it lies, its text, and its number of words."""

    span: Span
    text: str
    words: int


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
    tokens = text.split() if text.isascii() or not _UNSPACED.search(text) else _WORDS.findall(text)
    return len(tokens) - tokens.count("|")


def render_row(cells: Iterable[str]) -> str:
    """Return a row, or a header, as one line; whitespace within a cell is collapsed. All cells blank give ''."""
    cleaned = [" ".join(cell.split()) for cell in cells]
    return CELL_SEPARATOR.join(cleaned) if any(cleaned) else ""


def render(document: Document) -> str:
    """Return the plain text of a document: headings, text blocks and tables, a blank line between them.

    Passages' offsets count characters of it.
    """
    return _lay_out(document)[0]


def chunk_all(
    documents: Iterable[Document], target_words: int, ceiling_words: int, workers: int = 1
) -> Iterator[Passage]:
    """Yield the passages of all documents in order, see `chunk`; they do not depend on the number of workers.

    Memory depends on the longest document and on the number of workers, not on how many documents there are.

    Parameters
    ----------
    workers
        Processes that share the work, 1 or more; with 1 it is done in this process.

    Raises
    ------
    ConfigError
        The target is below 1 or above the ceiling.
    CalibragError
        A document could not be chunked, or the process at work on it was killed; names the document.
    """
    _check(target_words, ceiling_words)
    work = partial(_chunked, target_words=target_words, ceiling_words=ceiling_words)
    batches = batched_by_weight(documents, _DOCUMENTS, _characters, _CHARACTERS)
    return chain.from_iterable(in_order(work, batches, workers, lambda document: f"document {document.doc_id}"))


def _chunked(document: Document, target_words: int, ceiling_words: int) -> list[Passage]:
    return list(chunk(document, target_words, ceiling_words))


def _characters(document: Document) -> int:
    """Return about how long a document is."""
    blocks = [block for section in document.sections for block in section.blocks]
    return sum(len(b.text) if isinstance(b, TextBlock) else sum(map(len, chain(b.header, *b.rows))) for b in blocks)


def _check(target_words: int, ceiling_words: int) -> None:
    if not 1 <= target_words <= ceiling_words:
        problem = f"must be from 1 to ceiling_words ({ceiling_words}) (got {target_words})"
        raise ConfigError("corpus.chunking.target_words", problem)


def chunk(document: Document, target_words: int, ceiling_words: int) -> Iterator[Passage]:
    """Yield the passages of a document in order; ``passage_id`` is ``{doc_id}#{ordinal}``.

    Parameters
    ----------
    target_words
        Sentences are added while a passage stays at or below it.
    ceiling_words
        A sentence above it is cut at it; a table above it is split by rows, its header repeated in each part. A
        single row that with its header is above it stays whole, ``oversized``. A header that is above it alone is
        not repeated, but counts as a row.

    Raises
    ------
    ConfigError
        The target is below 1 or above the ceiling.
    """
    _check(target_words, ceiling_words)
    text, parts = _lay_out(document)
    ordinal = 0
    for part in parts:
        if isinstance(part, TextRun):
            kind, pieces = "text", _pack_sentences(text, part.span, target_words, ceiling_words)
        else:
            kind, pieces = "table", _pack_rows(text, part, ceiling_words)
        for piece in pieces:
            yield Passage(
                passage_id=f"{document.doc_id}#{ordinal}",
                doc_id=document.doc_id,
                title=document.title,
                heading=part.heading,
                kind=kind,
                ordinal=ordinal,
                start=piece.span.start,
                end=piece.span.end,
                text=piece.text,
                oversized=piece.words > ceiling_words,
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


def _pack_sentences(text: str, run: Span, target: int, ceiling: int) -> Iterator[Piece]:
    start = end = None
    words = 0
    for sentence, length in _sentences(text, run, ceiling):
        if start is not None and words + length > target:
            yield Piece(Span(start, end), text[start:end], words)
            start, words = None, 0
        start = sentence.start if start is None else start
        end = sentence.end
        words += length
    if start is not None:
        yield Piece(Span(start, end), text[start:end], words)


def _sentences(text: str, run: Span, ceiling: int) -> Iterator[tuple[Span, int]]:
    """Yield the sentences of a run with their words; one above the ceiling comes in pieces of ``ceiling`` words."""
    for first, last in sentence_spans(text[run.start : run.end]):
        sentence = Span(run.start + first, run.start + last)
        words = count_words(text[sentence.start : sentence.end])
        if words <= ceiling:
            yield sentence, words
            continue
        start, end, words = sentence.start, sentence.start, 0
        for word in _WORDS.finditer(text, sentence.start, sentence.end):
            counts = word.group() != "|"
            if words + counts > ceiling:
                yield Span(start, end), words
                start, words = word.start(), 0
            end = word.end()
            words += counts
        yield Span(start, end), words


def _pack_rows(text: str, table: TableLines, ceiling: int) -> Iterator[Piece]:
    header, rows = table.header, table.rows
    header_words = count_words(text[header.start : header.end]) if header else 0
    if header and (header_words > ceiling or not rows):
        header, header_words, rows = None, 0, [header, *rows]
    first, words = 0, header_words
    for place, row in enumerate(rows):
        length = count_words(text[row.start : row.end])
        if place > first and words + length > ceiling:
            yield _part(text, header, rows[first], rows[place - 1], words)
            first, words = place, header_words
        words += length
    yield _part(text, header, rows[first], rows[-1], words)


def _part(text: str, header: Span | None, first: Span, last: Span, words: int) -> Piece:
    """Return rows of a table as a piece; the header is before all rows, or before the first of them in the page."""
    if header is None or header.end + 1 == first.start:
        span = Span(header.start if header else first.start, last.end)
        return Piece(span, text[span.start : span.end], words)
    span = Span(first.start, last.end)
    return Piece(span, f"{text[header.start : header.end]}\n{text[span.start : span.end]}", words)
