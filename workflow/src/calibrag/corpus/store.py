"""Passages and annotations on disk (Parquet, zstd) and in memory (Arrow columns, not Python objects)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from calibrag.corpus.batching import batched
from calibrag.errors import InputError
from calibrag.records import Annotation, Passage

PASSAGES = pa.schema(
    [
        pa.field("passage_id", pa.string(), nullable=False),
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("heading", pa.string()),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)
ANNOTATIONS = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("passage_id", "name", "origin")])

_ROWS = 10_000
"""Rows of a row group: what is held as Python objects at a time."""


def write_passages(path: str | Path, passages: Iterable[Passage]) -> int:
    """Write passages in the order given and return how many; the file appears only when it is whole."""
    return _write(path, PASSAGES, passages)


def read_passages(path: str | Path, shard: str = "1-of-1") -> Iterator[Passage]:
    """Yield the passages of a file, or of one shard of it, in order, a batch in memory at a time.

    Parameters
    ----------
    shard
        ``{number}-of-{count}``, see `shard_rows`.
    """
    rows = shard_rows(path, shard)
    return islice(_read(path, PASSAGES, Passage, first=rows.start), len(rows))


def read_passage_ids(path: str | Path) -> Iterator[str]:
    """Yield the ids of the passages of a file in order."""
    with _parquet(path, PASSAGES) as file:
        for batch in file.iter_batches(batch_size=_ROWS, columns=["passage_id"]):
            yield from batch.column(0).to_pylist()


def shard_rows(path: str | Path, shard: str) -> range:
    """Return the rows of a passage file that make up a shard, ``{number}-of-{count}``, numbers from 1.

    Shards are about equally long, hold whole documents (a document that spans a cut goes to the shard in which it
    starts; a shard may be empty), and joined in order they are the file.
    """
    number, count = map(int, shard.split("-of-"))
    if not 1 <= number <= count:
        raise ValueError(f"shard must be from 1-of-{count} to {count}-of-{count} (got {shard})")
    with _parquet(path, PASSAGES) as file:
        total = file.metadata.num_rows
        return range(*(_document_start(file, total * cut // count) for cut in (number - 1, number)))


def _document_start(file: pq.ParquetFile, row: int) -> int:
    """Return the first row from ``row`` on that starts a document, or the number of rows."""
    at = 0
    for group in range(file.metadata.num_row_groups):
        length = file.metadata.row_group(group).num_rows
        if at + length > row:
            for ordinal in file.read_row_group(group, columns=["ordinal"]).column(0).to_pylist()[max(0, row - at) :]:
                if ordinal == 0:
                    return max(row, at)
                row = max(row, at) + 1
        at += length
    return at


def write_annotations(path: str | Path, annotations: Iterable[Annotation]) -> int:
    """Write annotations in the order given and return how many; the file appears only when it is whole."""
    return _write(path, ANNOTATIONS, annotations)


def read_annotations(path: str | Path) -> Iterator[Annotation]:
    """Yield the annotations of a file in order."""
    return _read(path, ANNOTATIONS, Annotation)


def names_by_passage(path: str | Path, origins: Collection[str] = ("passage", "document")) -> dict[str, list[str]]:
    """Return the names of each passage of an annotation file, in file order; passages without any are absent.

    Parameters
    ----------
    origins
        Which names are wanted: those that the passage spells out, those assigned from its document, or both.
    """
    names: dict[str, list[str]] = {}
    for annotation in read_annotations(path):
        if annotation.origin in origins:
            names.setdefault(annotation.passage_id, []).append(annotation.name)
    return names


class PassageStore:
    """Passages by id, and their neighbours in the document.

    Attributes
    ----------
    ids
        Passage ids, in file order: that of the documents, then of the passages in them.
    """

    def __init__(self, table: pa.Table):
        self._columns = {name: table.column(name) for name in PASSAGES.names}
        self.ids: list[str] = self._columns["passage_id"].to_pylist()
        self._rows = {passage_id: row for row, passage_id in enumerate(self.ids)}

    @classmethod
    def open(cls, path: str | Path) -> PassageStore:
        """Return the store of a file that ``write_passages`` wrote.

        Raises
        ------
        InputError
            The file is no such Parquet file.
        """
        with _parquet(path, PASSAGES) as file:
            return cls(file.read())

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, passage_id: str) -> bool:
        return passage_id in self._rows

    def __getitem__(self, passage_id: str) -> Passage:
        """Return a passage; KeyError for an unknown id."""
        row = self._rows[passage_id]
        return Passage(**{name: column[row].as_py() for name, column in self._columns.items()})

    def texts(self, passage_ids: Iterable[str]) -> list[str]:
        """Return the text of each passage, in the order given."""
        column = self._columns["text"]
        return [column[self._rows[passage_id]].as_py() for passage_id in passage_ids]

    def neighbours(self, passage_id: str) -> tuple[Passage | None, Passage | None]:
        """Return the passages before and after one in its document; None at its ends."""
        row = self._rows[passage_id]
        doc_ids = self._columns["doc_id"]
        return tuple(
            self[self.ids[other]] if 0 <= other < len(self) and doc_ids[other] == doc_ids[row] else None
            for other in (row - 1, row + 1)
        )


def _write(path: str | Path, schema: pa.Schema, records: Iterable[msgspec.Struct]) -> int:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{os.getpid()}.{target.name}")
    count = 0
    try:
        with pq.ParquetWriter(partial, schema, compression="zstd") as writer:
            for batch in batched(records, _ROWS):
                columns = [[getattr(record, name) for record in batch] for name in schema.names]
                arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
                count += len(batch)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _read(path: str | Path, schema: pa.Schema, record: type, first: int = 0) -> Iterator:
    with _parquet(path, schema) as file:
        groups = range(file.metadata.num_row_groups)
        while groups and file.metadata.row_group(groups[0]).num_rows <= first:
            first -= file.metadata.row_group(groups[0]).num_rows
            groups = groups[1:]
        for batch in file.iter_batches(batch_size=_ROWS, row_groups=list(groups)):
            for row in batch.slice(min(first, len(batch))).to_pylist():
                yield record(**row)
            first = max(0, first - len(batch))


def _parquet(path: str | Path, schema: pa.Schema) -> pq.ParquetFile:
    try:
        file = pq.ParquetFile(path, memory_map=True)
    except pa.ArrowInvalid as error:
        raise InputError(path, f"no Parquet file ({error}); remove it and run the workflow again") from error
    if file.schema_arrow.names != schema.names:
        raise InputError(path, f"must have the columns {schema.names} (got {file.schema_arrow.names})")
    return file
