"""The records that pass between stages, and how they are read and written as JSON Lines.

Every record is frozen and refuses unknown fields. Ranks count from 1; ``confidence`` lies in [0, 1],
higher = surer; a missing value is ``None``, never 0, -1 or NaN.
"""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from calibrag.errors import InputError


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all records."""


# --- collections ---------------------------------------------------------------------------------


class TextBlock(Record, tag_field="kind", tag="text"):
    """Running text of a section."""

    text: str


class TableBlock(Record, tag_field="kind", tag="table"):
    """A table: column names and rows of cells, all plain text; every row is as long as the header."""

    header: list[str]
    rows: list[list[str]]


class Section(Record, kw_only=True):
    """A run of blocks under one heading; ``heading`` is None for the lead of a document."""

    heading: str | None = None
    blocks: list[TextBlock | TableBlock]


class Document(Record):
    """A document. ``doc_id`` holds no whitespace and no semicolon, so that it fits run files."""

    doc_id: str
    title: str
    sections: list[Section]


class Support(Record):
    """One supporting fact: a document and the words of it (None: the whole document)."""

    doc_id: str
    quote: str | None = None


class Question(Record, kw_only=True):
    """A question with its gold answers; ``supported`` is False where the corpus holds no support."""

    qid: str
    text: str
    type: str | None = None
    answers: list[str]
    answer_kind: Literal["single", "set"] = "single"
    supported: bool = True
    support: list[Support] = []
    split: Literal["train", "dev", "test"] = "test"


# --- corpus --------------------------------------------------------------------------------------


class Passage(Record):
    """A passage.

    ``ordinal`` counts the passages of a document from 0; ``start`` and ``end`` are character offsets into
    ``corpus.chunking.render(document)``; ``text`` of a text passage equals that slice, ``text`` of a table
    passage repeats the header line where the table was split. ``oversized`` marks the passages above the ceiling of
    words: a table's row that is longer by itself, with its header.
    """

    passage_id: str
    doc_id: str
    title: str
    heading: str | None
    kind: Literal["text", "table"]
    ordinal: int
    start: int
    end: int
    text: str
    oversized: bool = False


class Annotation(Record):
    """A name that a passage carries: spelled out in it, or assigned from its document."""

    passage_id: str
    name: str
    origin: Literal["passage", "document"]


# --- retrieval -----------------------------------------------------------------------------------


class Hit(Record):
    """One line of a ranking; ``rank`` from 1, ``score`` higher = better."""

    passage_id: str
    rank: int
    score: float


class NameCount(Record):
    """A name, and how many of the passages at hand carry it."""

    name: str
    passages: int


# --- reading and writing -------------------------------------------------------------------------

R = TypeVar("R")

_OPENERS = {".gz": gzip.open, ".xz": lzma.open}


def open_text(path: str | Path, mode: str = "r"):
    """Return a UTF-8 text stream; ``.gz`` and ``.xz`` are (de)compressed."""
    opener = _OPENERS.get(Path(path).suffix, open)
    return opener(path, mode + "t", encoding="utf-8", newline="\n" if "w" in mode else None)


def read_jsonl(path: str | Path, record: type[R]) -> Iterator[R]:
    """Yield the records of a JSON Lines file; blank lines are passed over.

    Raises
    ------
    InputError
        A line is no JSON, or no such record; names file, line and field.
    """
    decoder = msgspec.json.Decoder(record)
    number = 0
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    yield decoder.decode(line)
                except msgspec.ValidationError as error:
                    problem, _, field = str(error).partition(" - at `$.")
                    raise InputError(path, problem, number, field.rstrip("`") or None) from None
                except msgspec.DecodeError as error:
                    raise InputError(path, f"not a line of JSON ({error})", number) from None
    except (UnicodeDecodeError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        problem = f"unreadable after line {number} ({error}); remove it and run the workflow again"
        raise InputError(path, problem) from error


def write_jsonl(path: str | Path, records: Iterable[msgspec.Struct]) -> int:
    """Write records as JSON Lines and return how many; the file appears only when it is whole."""
    count = 0
    with whole_file(path) as partial, open_text(partial, "w") as out:
        for record in records:
            out.write(msgspec.json.encode(record).decode() + "\n")
            count += 1
    return count


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give the path of a file to write: it moves to ``path`` when the block ends, and is gone if the block fails."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # the suffix must survive, since it chooses the compression
    partial = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
