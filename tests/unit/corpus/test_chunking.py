"""Chunking by hand-worked cases."""

import pytest

from calibrag.corpus.chunking import chunk, count_words, render, render_row
from calibrag.errors import ConfigError
from calibrag.records import Document, Section, TableBlock, TextBlock


def sentence(words):
    """A sentence of so many words."""
    return " ".join(["word"] * words).capitalize() + "."


def text_document(*blocks, heading=None):
    return Document(
        doc_id="d", title="Title", sections=[Section(heading=heading, blocks=[TextBlock(text=t) for t in blocks])]
    )


def lengths(document, target=200, ceiling=300):
    return [count_words(passage.text) for passage in chunk(document, target, ceiling)]


@pytest.mark.parametrize(
    "sentences, expected",
    [
        ([100, 100], [200]),  # exactly the target: still one passage
        ([100, 101], [100, 101]),  # 201 would cross it
        ([60, 60, 60, 60], [180, 60]),
        ([250, 10], [250, 10]),  # a sentence between target and ceiling stands alone
        ([10, 250, 10], [10, 250, 10]),
        ([300], [300]),
        ([301], [300, 1]),
        ([650, 20], [300, 300, 70]),  # the rest of a split sentence is packed with what follows
        ([1], [1]),
    ],
)
def test_sentences_are_packed_to_the_target_under_the_ceiling(sentences, expected):
    assert lengths(text_document(" ".join(map(sentence, sentences)))) == expected


def test_a_passage_never_crosses_a_section_but_runs_over_paragraphs():
    document = Document(
        doc_id="d",
        title="Title",
        sections=[
            Section(blocks=[TextBlock(text="One is here."), TextBlock(text="Two is here.")]),
            Section(heading="Later", blocks=[TextBlock(text="Three is here.")]),
        ],
    )
    passages = list(chunk(document, 200, 300))
    assert [(p.passage_id, p.heading, p.text) for p in passages] == [
        ("d#0", None, "One is here.\n\nTwo is here."),
        ("d#1", "Later", "Three is here."),
    ]
    assert render(document) == "One is here.\n\nTwo is here.\n\nLater\n\nThree is here."


def test_a_table_is_a_passage_of_its_own_and_parts_the_text_around_it():
    table = TableBlock(header=["Year", "Film"], rows=[["1979", "Alien"], ["1982", "Blade  Runner"]])
    document = Document(
        doc_id="d",
        title="Title",
        sections=[Section(heading="Films", blocks=[TextBlock(text="Before it."), table, TextBlock(text="After it.")])],
    )
    passages = list(chunk(document, 200, 300))
    assert [(p.ordinal, p.kind, p.text) for p in passages] == [
        (0, "text", "Before it."),
        (1, "table", "Year | Film\n1979 | Alien\n1982 | Blade Runner"),
        (2, "text", "After it."),
    ]
    assert all(render(document)[p.start : p.end] == p.text for p in passages)


def test_a_long_table_is_split_by_rows_with_its_header_repeated():
    rows = [[f"{number}", "a b c d"] for number in range(5)]  # 5 words each, header 2
    table = TableBlock(header=["No", "Words"], rows=rows)
    document = Document(doc_id="d", title="Title", sections=[Section(blocks=[table])])
    passages = list(chunk(document, 10, 12))
    assert [p.text for p in passages] == [
        "No | Words\n0 | a b c d\n1 | a b c d",
        "No | Words\n2 | a b c d\n3 | a b c d",
        "No | Words\n4 | a b c d",
    ]
    text = render(document)
    assert text[passages[0].start : passages[0].end] == passages[0].text
    assert text[passages[1].start : passages[1].end] == "2 | a b c d\n3 | a b c d"


def test_a_row_above_the_ceiling_stays_whole_in_a_passage_of_its_own():
    rows = [["a", "b"], ["x " * 20, "y"], ["c", "d"]]
    document = Document(
        doc_id="d", title="Title", sections=[Section(blocks=[TableBlock(header=["H", "I"], rows=rows)])]
    )
    assert lengths(document, 10, 12) == [4, 23, 4]


@pytest.mark.parametrize(
    "header, rows, expected",
    [
        (["", ""], [["a", ""], ["", ""]], ["a | "]),  # no header line, no blank row
        (["A", "B"], [], ["A | B"]),
        (["", ""], [["", " "]], []),
        ([], [], []),
    ],
)
def test_blank_headers_and_rows_leave_no_trace(header, rows, expected):
    document = Document(doc_id="d", title="Title", sections=[Section(blocks=[TableBlock(header=header, rows=rows)])])
    assert [passage.text for passage in chunk(document, 200, 300)] == expected


def test_bars_between_cells_count_for_no_word():
    assert count_words(render_row(["a b", "", " c\nd "])) == 4


def test_blank_blocks_and_headings_leave_no_trace():
    document = text_document("  ", "Text. ", "\n", heading="  ")
    assert [(p.heading, p.text) for p in chunk(document, 200, 300)] == [(None, "Text.")]
    assert render(document) == "Text."


@pytest.mark.parametrize("target, ceiling", [(0, 300), (301, 300), (-1, -1)])
def test_a_target_above_the_ceiling_or_below_one_is_refused(target, ceiling):
    with pytest.raises(ConfigError, match=r"config\.yaml: corpus\.chunking\.target_words: must be from 1"):
        list(chunk(text_document("Text."), target, ceiling))
