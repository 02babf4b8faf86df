"""Chunking properties, over generated documents and over all shipped ones."""

from bisect import bisect_left, bisect_right
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.corpus.chunking import chunk, chunk_all, count_words, render, render_row
from calibrag.corpus.sentences import sentence_spans
from calibrag.records import Document, Section, TableBlock, TextBlock, read_jsonl

SHIPPED = Path(__file__).parents[3] / "workflow" / "resources" / "collections"

WORDS = st.lists(
    st.sampled_from(["a", "Bo", "U.S.", "3.5", "end.", "No.", "Why?", "|", "é", "\n\n", "x" * 30, "中文", "。", "か"]),
    max_size=60,
)
TEXTS = st.builds(lambda words: TextBlock(text=" ".join(words)), WORDS) | st.builds(
    TextBlock, text=st.text(max_size=80)
)
CELLS = st.text(alphabet=st.sampled_from("ab |\n"), max_size=30)


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 3))
    rows = st.lists(CELLS, min_size=columns, max_size=columns)
    return TableBlock(header=draw(rows), rows=draw(st.lists(rows, max_size=8)))


DOCUMENTS = st.builds(
    Document,
    doc_id=st.just("doc"),
    title=st.just("Title"),
    sections=st.lists(
        st.builds(Section, heading=st.none() | st.just("Heading"), blocks=st.lists(TEXTS | tables(), max_size=4)),
        max_size=4,
    ),
)


def content(document):
    """What passages must hold: the blocks' characters, whitespace and the bars between cells apart."""
    pieces = []
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, TableBlock):
                pieces += [render_row(block.header), *map(render_row, block.rows)]
            else:
                pieces.append(block.text)
    return "".join("".join(pieces).split())


def faults(document, passages, target, ceiling):
    """Return what is wrong with the passages of a document, in words."""
    text = render(document)
    ordinals = list(range(len(passages)))
    held, found, end = [], [], 0
    if [passage.ordinal for passage in passages] != ordinals:
        found.append("ordinals do not count from 0")
    if [passage.passage_id for passage in passages] != [f"{document.doc_id}#{n}" for n in ordinals]:
        found.append("ids are not made of document and ordinal")
    for passage in passages:
        piece = text[passage.start : passage.end]
        held.append(piece)
        where = f" ({passage.passage_id})"
        if not end <= passage.start < passage.end <= len(text):
            found.append("passages overlap, or are out of order" + where)
        if not piece.strip() or passage.kind == "text" and piece != piece.strip():
            found.append("a passage is blank, or begins or ends so" + where)
        if not (passage.text == piece or passage.kind == "table" and passage.text.endswith("\n" + piece)):
            found.append("the offsets are not those of the text" + where)
        if passage.oversized != (count_words(passage.text) > ceiling):
            found.append("a long passage is not marked, or a short one is" + where)
        if passage.oversized and (passage.kind == "text" or "\n" in piece.removeprefix(first_line(passage)).strip()):
            found.append("a passage above the ceiling is no single row" + where)
        end = passage.end
    if "".join("".join(held).split()) != content(document):
        found.append("text is lost, doubled or moved")
    return found + badly_packed(document, passages, target, ceiling)


def first_line(passage):
    return passage.text.split("\n")[0]


def runs(document):
    """Yield the text blocks that are packed together, each with its offset, laid out here once more."""
    at = 0
    for section in document.sections:
        if heading := (section.heading or "").strip():
            at += len(heading) + 2
        for kind, blocks in groupby(section.blocks, key=type):
            run = []
            for block in blocks:
                lines = [block.text] if kind is TextBlock else map(render_row, [block.header, *block.rows])
                text = "\n".join(filter(None, lines)) if kind is TableBlock else block.text.strip()
                if text:
                    run.append((at, text))
                    at += len(text) + 2
            if kind is TextBlock and run:
                yield run


def badly_packed(document, passages, target, ceiling):
    """Return the sentences that are cut though not above the ceiling, and the passages that the next one had fitted."""
    bounds = sorted(bound for passage in passages for bound in (passage.start, passage.end))
    by_end = {passage.end: passage for passage in passages}
    text = render(document)
    found = []
    for run in runs(document):
        sentences = [(at + start, at + end) for at, block in run for start, end in sentence_spans(block)]
        for start, end in sentences:
            if bisect_right(bounds, start) < bisect_left(bounds, end) and count_words(text[start:end]) <= ceiling:
                found.append(f"a sentence is cut ({text[start:end]!r})")
        for (_, end), (after, stop) in zip(sentences, sentences[1:], strict=False):
            words = count_words(text[after:stop])
            if end in by_end and words <= ceiling and count_words(by_end[end].text) + words <= target:
                found.append(f"a passage is not full ({by_end[end].passage_id})")
    return found


@settings(deadline=None, max_examples=200)
@given(DOCUMENTS, st.integers(1, 12), st.integers(0, 10))
def test_no_text_is_lost_doubled_or_moved_and_no_sentence_cut(document, target, more):
    passages = list(chunk(document, target, target + more))
    assert faults(document, passages, target, target + more) == []


@settings(deadline=None, max_examples=50)
@given(DOCUMENTS)
def test_the_same_document_gives_the_same_passages(document):
    assert list(chunk(document, 5, 8)) == list(chunk(document, 5, 8))


@pytest.mark.parametrize(
    ("collection", "lengths"),
    [("film", (200, 300)), ("film", (20, 30)), ("hotpotqa-open", (200, 300)), ("hotpotqa-pooled", (200, 300))],
)
def test_the_same_holds_for_all_shipped_documents(collection, lengths):
    documents = {d.doc_id: d for d in read_jsonl(SHIPPED / collection / "documents.jsonl.xz", Document)}
    wrong = []
    seen = []
    for doc_id, passages in groupby(chunk_all(documents.values(), *lengths, workers=2), key=lambda p: p.doc_id):
        seen.append(doc_id)
        wrong += faults(documents[doc_id], list(passages), *lengths)
    assert wrong == []
    assert seen == [doc_id for doc_id in documents if content(documents[doc_id])]
