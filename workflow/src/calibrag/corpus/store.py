"""Passages and annotations on disk: Parquet to be read from end to end, an Arrow file to be looked things up in.

The Arrow file of passages is not compressed: what is looked up is all that is read. Neither reading nor writing holds
more than a group of rows.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calibrag.corpus.batching import batched_by_weight
from calibrag.corpus.passage_ids import PassageIds
from calibrag.errors import CalibragError, InputError
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
        pa.field("oversized", pa.bool_(), nullable=False),
    ]
)
LOOKUP = pa.schema(
    [pa.field("passage_id", pa.string(), nullable=False), pa.field("record", pa.binary(), nullable=False)],
    metadata={"record": "msgpack: " + " ".join(PASSAGES.names)},
)
"""A passage in one place, so that a lookup is one reading of the file and not one a column."""

ANNOTATIONS = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("passage_id", "name", "origin")])

_ROWS = 10_000
_CHARACTERS = 16_000_000
"""Rows of a group, or the fewer whose text reaches so many characters: what is held in memory while writing."""

_AT_ONCE = 1_000
"""Rows that are Python objects at a time while reading."""


def write_passages(path: str | Path, passages: Iterable[Passage], arrow: str | Path | None = None) -> int:
    """Write passages in the order given and return how many; a file appears only when it is whole.

    Parameters
    ----------
    path
        The Parquet file.
    arrow
        The Arrow file for `PassageStore`; None writes none.

    Raises
    ------
    CalibragError
        The disk is full, or the file cannot be written for another reason.
    """
    outputs = [_Output.parquet(path, PASSAGES), *([_Output.lookup(arrow)] if arrow is not None else [])]
    return _write(outputs, passages, lambda passage: len(passage.text))


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
        for group in range(file.metadata.num_row_groups):
            yield from file.read_row_group(group, columns=["passage_id"]).column(0).to_pylist()


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
    return _write([_Output.parquet(path, ANNOTATIONS)], annotations, lambda annotation: 0)


def read_annotations(path: str | Path) -> Iterator[Annotation]:
    """Yield the annotations of a file in order."""
    return _read(path, ANNOTATIONS, Annotation)


class PassageStore:
    """Passages by id, and their neighbours in the document.

    Memory holds the ids and where each passage lies, some 60 bytes a passage; the passage itself is read from the file
    when it is asked for. Reading, unlike mapping, leaves no pages behind that count as memory of the process.

    Attributes
    ----------
    ids
        Passage ids, in file order: that of the documents, then of the passages in them.
    """

    def __init__(self, file: BinaryIO, ids: PassageIds, starts: np.ndarray, lengths: np.ndarray):
        self.ids = ids
        self._file = file
        self._starts = starts
        self._lengths = lengths

    @classmethod
    def open(cls, path: str | Path) -> PassageStore:
        """Return the store of the Arrow file that `write_passages` wrote.

        Raises
        ------
        InputError
            The file is no such Arrow file, or not whole.
        """
        opened = open(path, "rb")
        try:
            whole = pa.py_buffer(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
            file = pa.ipc.open_file(whole)
            _check_columns(path, file.schema, LOOKUP)
            if file.schema.metadata != LOOKUP.metadata:
                raise InputError(path, "was written by another version; remove it and run the workflow again")
            batches = [file.get_batch(number) for number in range(file.num_record_batches)]
        except (pa.ArrowException, OSError, ValueError) as error:  # an empty file cannot be mapped: ValueError
            raise _damaged(path, "Arrow", error) from error
        ids = [pa.array([], pa.string()), *(batch.column("passage_id") for batch in batches)]
        starts, lengths = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
        for batch in batches:
            _, offsets, records = batch.column("record").buffers()
            bounds = np.frombuffer(offsets, dtype=np.int32, count=len(batch) + 1)
            lengths.append(np.diff(bounds))
            # a file may be longer than 32 bits count
            starts.append(bounds[:-1].astype(np.int64) + (records.address - whole.address))
        return cls(opened, PassageIds(pa.concat_arrays(ids)), np.concatenate(starts), np.concatenate(lengths))

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, passage_id: str) -> bool:
        return len(self.ids.rows([passage_id])) > 0

    def __getitem__(self, passage_id: str) -> Passage:
        """Return a passage; KeyError for an unknown id."""
        return self._passage(self._row(passage_id))

    def texts(self, passage_ids: Iterable[str]) -> list[str]:
        """Return the text of each passage, in the order given."""
        return [self[passage_id].text for passage_id in passage_ids]

    def neighbours(self, passage_id: str) -> tuple[Passage | None, Passage | None]:
        """Return the passages before and after one in its document; None at its ends."""
        row = self._row(passage_id)
        doc_id = self._passage(row).doc_id
        beside = [self._passage(other) if 0 <= other < len(self) else None for other in (row - 1, row + 1)]
        return tuple(passage if passage is not None and passage.doc_id == doc_id else None for passage in beside)

    def _row(self, passage_id: str) -> int:
        rows = self.ids.rows([passage_id])
        if not len(rows):
            raise KeyError(passage_id)
        return int(rows[0])

    def _passage(self, row: int) -> Passage:
        record = os.pread(self._file.fileno(), int(self._lengths[row]), int(self._starts[row]))
        try:
            return _DECODER.decode(record)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _damaged(self._file.name, "Arrow", error) from error


_DECODER = msgspec.msgpack.Decoder(Passage)


def _write(outputs: list[_Output], records: Iterable[msgspec.Struct], weigh: Callable[[msgspec.Struct], int]) -> int:
    count = 0
    try:
        for output in outputs:
            output.open()
        for group in batched_by_weight(records, _ROWS, weigh, _CHARACTERS):
            for output in outputs:
                output.write(group)
            count += len(group)
        for output in outputs:
            output.close()
        for output in outputs:
            output.publish()
    finally:
        for output in outputs:
            output.discard()
    return count


class _Output:
    """A file under construction, beside the place where it appears when it is whole.

    Parameters
    ----------
    path
        Where it appears.
    schema
        The columns.
    writer
        What opens a writer of Arrow tables.
    columns
        The columns of a group of records.
    """

    def __init__(self, path: str | Path, schema: pa.Schema, writer: Callable, columns: Callable[[list], list[list]]):
        self._target = Path(path)
        self._partial = self._target.with_name(f".{os.getpid()}.{self._target.name}")
        self._schema = schema
        self._make_writer = writer
        self._columns = columns

    @classmethod
    def parquet(cls, path: str | Path, schema: pa.Schema) -> _Output:
        writer = partial(pq.ParquetWriter, compression="zstd", write_page_checksum=True)
        return cls(path, schema, writer, lambda group: [[getattr(r, name) for r in group] for name in schema.names])

    @classmethod
    def lookup(cls, path: str | Path) -> _Output:
        encode = msgspec.msgpack.Encoder().encode
        return cls(
            path, LOOKUP, pa.ipc.new_file, lambda group: [[p.passage_id for p in group], list(map(encode, group))]
        )

    def open(self) -> None:
        self._target.parent.mkdir(parents=True, exist_ok=True)
        with _writing(self._target):
            self._writer = self._make_writer(str(self._partial), self._schema)

    def write(self, group: list[msgspec.Struct]) -> None:
        columns = zip(self._columns(group), self._schema, strict=True)
        arrays = [pa.array(column, field.type) for column, field in columns]
        with _writing(self._target):
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        with _writing(self._target):
            self._writer.close()

    def publish(self) -> None:
        self._partial.replace(self._target)

    def discard(self) -> None:
        self._partial.unlink(missing_ok=True)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise CalibragError(f"{target}: cannot be written ({reason}); make room and run the workflow again") from error


def _read(path: str | Path, schema: pa.Schema, record: type, first: int = 0) -> Iterator:
    with _parquet(path, schema) as file:
        for group in range(file.metadata.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if first < rows:
                for batch in file.read_row_group(group).slice(first).to_batches(_AT_ONCE):
                    for row in batch.to_pylist():
                        yield record(**row)
            first = max(0, first - rows)


@contextmanager
def _parquet(path: str | Path, schema: pa.Schema) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path, memory_map=True, page_checksum_verification=True) as file:
            _check_columns(path, file.schema_arrow, schema)
            yield file
    except (FileNotFoundError, PermissionError):
        raise
    except (pa.ArrowException, OSError) as error:
        raise _damaged(path, "Parquet", error) from error


def _check_columns(path: str | Path, found: pa.Schema, wanted: pa.Schema) -> None:
    if found.names != wanted.names:
        problem = f"must have the columns {wanted.names} (got {found.names})"
        raise InputError(path, f"{problem}; remove it and run the workflow again")


def _damaged(path: str | Path, kind: str, error: Exception) -> InputError:
    reason = " ".join(str(error).split())
    return InputError(path, f"no {kind} file, or a damaged one ({reason}); remove it and run the workflow again")
