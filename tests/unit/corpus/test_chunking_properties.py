"""Chunking properties, over generated documents and over a sample of the shipped ones."""

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.corpus.chunking import chunk, count_words, render, render_row
from calibrag.records import Document, Section, TableBlock, TextBlock, read_jsonl

SHIPPED = Path(__file__).parents[3] / "workflow" / "resources" / "collections"

WORDS = st.lists(
    st.sampled_from(["a", "Bo", "U.S.", "3.5", "end.", "No.", "Why?", "|", "é", "\n\n", "x" * 30]), max_size=60
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


def check(document, target, ceiling):
    passages = list(chunk(document, target, ceiling))
    text = render(document)
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    assert [passage.passage_id for passage in passages] == [f"{document.doc_id}#{n}" for n in range(len(passages))]
    held = []
    end = 0
    for passage in passages:
        assert end <= passage.start < passage.end <= len(text), "passages overlap, or are out of order"
        end = passage.end
        piece = text[passage.start : passage.end]
        held.append(piece)
        assert piece.strip() and passage.text.strip()
        if passage.kind == "text":
            assert passage.text == piece
            assert count_words(passage.text) <= ceiling
        else:
            assert passage.text == piece or passage.text.endswith("\n" + piece)
            one_row = "\n" not in piece or passage.text == piece and piece.count("\n") == 1
            assert count_words(passage.text) <= ceiling or one_row
    assert "".join("".join(held).split()) == content(document), "text lost or doubled"
    assert passages == list(chunk(document, target, ceiling)), "ids are not stable"


@settings(deadline=None, max_examples=150)
@given(DOCUMENTS, st.integers(1, 12), st.integers(0, 10))
def test_no_text_is_lost_doubled_or_moved(document, target, more):
    check(document, target, target + more)


@pytest.mark.parametrize("collection", ["film", "hotpotqa-open"])
def test_the_same_holds_for_shipped_documents(collection):
    documents = read_jsonl(SHIPPED / collection / "documents.jsonl.xz", Document)
    for document in islice(documents, 0, 6000, 7):
        check(document, 200, 300)
        check(document, 20, 30)
