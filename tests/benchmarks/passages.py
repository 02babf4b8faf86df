"""Passages for benchmarks: real ones, and as many more as wanted, made from them with other names.

A folder of scale data (OTT-QA's release: ottqa_passages.jsonl.xz, 178,775 articles, and ottqa_tables.jsonl.xz, 8,891
tables) gives the first 188,000 or so; without one, the shipped collections give the first 16,000. Later ones are
copies in which every capitalised word is another capitalised word of the same data, so that the copies differ
from each other as pages do, while lengths and the frequencies of common words stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import msgspec

from calibrag.collections import ottqa
from calibrag.corpus.chunking import chunk
from calibrag.records import Annotation, Document, Passage, open_text, read_jsonl

SHIPPED = Path(__file__).parents[2] / "workflow" / "resources" / "collections"
CHUNKING = {"target_words": 200, "ceiling_words": 300}

_NAME = re.compile(r"[A-Z][a-z]+")
_RUN = re.compile(r"[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]+)*")
_STEP = 7919  # a prime: each copy moves every name by another step through the list of names


def documents(scale: Path | None) -> Iterator[Document]:
    """Yield the real documents of the scale folder, or of the shipped collections where it is None."""
    if scale is None:
        for path in sorted(SHIPPED.glob("*/documents.jsonl.xz")):
            yield from read_jsonl(path, Document)
        return
    with open_text(scale / "ottqa_passages.jsonl.xz") as lines:
        yield from (ottqa.article_document(msgspec.json.decode(line)) for line in lines)
    with open_text(scale / "ottqa_tables.jsonl.xz") as lines:
        yield from (_table(number, msgspec.json.decode(line)) for number, line in enumerate(lines))


def _table(number: int, table: dict) -> Document:
    fields = {"table_id": f"table-{number}", "intro": "", "section_title": "", "section_text": ""}
    return ottqa.table_document(table | {key: table.get(key) or value for key, value in fields.items()})


def real_passages(scale: Path | None) -> Iterator[Passage]:
    """Yield the passages of the real documents, each id once."""
    for number, document in enumerate(documents(scale)):
        for passage in chunk(document, **CHUNKING):
            yield msgspec.structs.replace(passage, doc_id=f"{number}", passage_id=f"{number}#{passage.ordinal}")


class Corpus:
    """The first ``size`` passages, streamed as often as wanted; the real ones are in memory."""

    def __init__(self, size: int, scale: Path | None):
        self.size = size
        self.real = list(islice(real_passages(scale), size))
        self._names = sorted({name for passage in self.real for name in _NAME.findall(passage.text)})
        self._place = {name: place for place, name in enumerate(self._names)}

    def __iter__(self) -> Iterator[Passage]:
        return islice((passage for copy in count() for passage in self._copy(copy)), self.size)

    def annotations(self) -> Iterator[Annotation]:
        """Yield runs of capitalised words as names, in the order of the passages; a tagger would take hours."""
        for passage in self:
            for name in dict.fromkeys(_RUN.findall(passage.text)):
                yield Annotation(passage_id=passage.passage_id, name=name, origin="passage")

    def _copy(self, copy: int) -> Iterator[Passage]:
        if copy == 0:
            yield from self.real
            return

        def other(match: re.Match) -> str:
            return self._names[(self._place.get(match[0], 0) + copy * _STEP) % len(self._names)]

        for passage in self.real:
            yield msgspec.structs.replace(
                passage,
                passage_id=f"{copy}-{passage.passage_id}",
                doc_id=f"{copy}-{passage.doc_id}",
                title=_NAME.sub(other, passage.title),
                text=_NAME.sub(other, passage.text),
            )


def queries(limit: int) -> list[str]:
    """Return questions of the shipped collections, the same ones each time."""
    from calibrag.records import Question

    texts = (
        question.text
        for path in sorted(SHIPPED.glob("*/questions.jsonl.xz"))
        for question in read_jsonl(path, Question)
    )
    return list(islice(texts, limit))
