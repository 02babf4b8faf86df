"""Chunking by hand-worked cases."""

import time

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
    assert [passage.oversized for passage in chunk(document, 10, 12)] == [False, True, False]


def test_a_row_that_only_with_its_header_is_above_the_ceiling_is_marked_too():
    table = TableBlock(header=["a b c", "d e"], rows=[["one", "two"], ["x " * 5, "y " * 5]])
    document = Document(doc_id="d", title="Title", sections=[Section(blocks=[table])])
    passages = list(chunk(document, 10, 12))
    assert [(count_words(p.text), p.oversized) for p in passages] == [(7, False), (15, True)]
    assert passages[1].text.startswith("a b c | d e\n")


def test_a_header_above_the_ceiling_is_a_passage_and_not_repeated():
    table = TableBlock(header=["a " * 10, "b " * 10], rows=[[str(n), "c d"] for n in range(6)])
    document = Document(doc_id="d", title="Title", sections=[Section(blocks=[table])])
    passages = list(chunk(document, 10, 12))
    assert [(count_words(p.text), p.oversized) for p in passages] == [(20, True), (12, False), (6, False)]
    assert passages[1].text == "0 | c d\n1 | c d\n2 | c d\n3 | c d"


def test_a_header_at_the_ceiling_is_repeated_before_each_row():
    table = TableBlock(header=["a " * 12, ""], rows=[["1", "c"], ["2", "d"]])
    document = Document(doc_id="d", title="Title", sections=[Section(blocks=[table])])
    assert [(count_words(p.text), p.oversized) for p in chunk(document, 10, 12)] == [(14, True), (14, True)]


def test_ideographs_and_kana_are_words_of_their_own():
    assert count_words("彼はZoë（東京）へ行った。") == 9
    assert count_words("は\u3099 コーヒー") == 1 + 4
    document = text_document("我們看電影。" * 100)
    assert lengths(document) == [200, 200, 100]
    assert lengths(text_document("電" * 650)) == [300, 300, 50]


def test_a_list_is_cut_between_its_items():
    items = "\n".join(f"item {n} of a long list" for n in range(60))  # 6 words each, no stop
    passages = list(chunk(text_document(items), 200, 300))
    assert [count_words(passage.text) for passage in passages] == [198, 162]
    assert passages[1].text.startswith("item 33 of")


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


def seconds(make, size):
    document = make(size)
    started = time.process_time()
    found = sum(1 for _ in chunk(document, 200, 300))
    return time.process_time() - started, found


@pytest.mark.parametrize(
    "make",
    [
        lambda size: text_document("This is the end of Mr. Smith etc. and so on. " * (size // 45)),
        lambda size: text_document("word " * (size // 5)),
        lambda size: text_document("x" * size),
        lambda size: text_document("。中" * (size // 2)),
        lambda size: text_document("line\n" * (size // 5)),
        lambda size: Document(
            doc_id="d",
            title="T",
            sections=[Section(blocks=[TableBlock(header=["A b", "C"], rows=[["some cell", "1"]] * (size // 12))])],
        ),
    ],
    ids=["sentences", "no stop", "no space", "ideographs", "lines", "rows"],
)
def test_time_grows_with_the_length_of_a_document(make):
    small = min(seconds(make, 50_000) for _ in range(3))
    large = min(seconds(make, 200_000) for _ in range(2))
    # four times the text: a quadratic way would take sixteen times as long
    assert large[0] < 8 * small[0] + 0.02
    assert large[1] <= 4 * small[1] + 1
