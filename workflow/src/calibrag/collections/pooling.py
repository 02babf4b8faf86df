"""Documents that are gathered from many places: no id twice, texts under one id brought together."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from calibrag.errors import InputError
from calibrag.records import Document, Section, TextBlock

_LOG = logging.getLogger(__name__)
_EXAMPLES = 3


class Gathered:
    """The ids of a source so far, with the place of each, and what was left out of it."""

    def __init__(self) -> None:
        self._places: dict[str, str | int] = {}
        self._left_out: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def claim(self, doc_id: str, file: str, place: str | int) -> str:
        """Return the id, which is now taken.

        Parameters
        ----------
        place
            Where the document stands: the member of an archive, or the number of a page.

        Raises
        ------
        InputError
            Another document has it: two pages of one title.
        """
        if doc_id in self._places:
            places = [f"page {at}" if isinstance(at, int) else at for at in (self._places[doc_id], place)]
            problem = f"{doc_id!r} is the id of two documents: {places[0]} and {places[1]}; rename or remove one"
            raise InputError(file, problem, field="doc_id")
        self._places[doc_id] = place
        return doc_id

    def leave_out(self, reason: str, name: str) -> None:
        """Count something that becomes no document."""
        self._left_out[reason] += 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(name)

    def report(self) -> None:
        """Say in the log what was left out."""
        for reason, count in self._left_out.most_common():
            _LOG.warning("%s: %d left out, such as %s", reason, count, ", ".join(self._examples[reason]))


class Pool:
    """Texts under ids, each once, kept on the disk: memory does not grow with them."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="calibrag-pool-")
        self._store = sqlite3.connect(Path(self._folder.name) / "texts.sqlite", isolation_level=None)
        self._store.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; BEGIN;"
            "CREATE TABLE documents (number INTEGER PRIMARY KEY, doc_id TEXT UNIQUE, title TEXT);"
            "CREATE TABLE texts (number INTEGER PRIMARY KEY, document INTEGER, digest BLOB UNIQUE, text TEXT);"
        )

    def add(self, doc_id: str, title: str, text: str) -> None:
        """Keep a text; the title of an id is the first that it comes with."""
        self._store.execute("INSERT OR IGNORE INTO documents (doc_id, title) VALUES (?, ?)", (doc_id, title))
        digest = hashlib.blake2b(f"{doc_id} {text}".encode(), digest_size=16).digest()
        self._store.execute(
            "INSERT OR IGNORE INTO texts (document, digest, text) SELECT number, ?, ? FROM documents WHERE doc_id = ?",
            (digest, text, doc_id),
        )

    def documents(self) -> Iterator[Document]:
        """Yield a document an id, a section a text, in the order in which they came first; the pool is then gone."""
        rows = self._store.execute(
            "SELECT doc_id, title, text FROM texts JOIN documents ON document = documents.number"
            " ORDER BY document, texts.number"
        )
        for (doc_id, title), texts in groupby(rows, key=lambda row: row[:2]):
            sections = [Section(blocks=[TextBlock(text=text)]) for _, _, text in texts]
            yield Document(doc_id=doc_id, title=title, sections=sections)
        self._store.close()
        self._folder.cleanup()
