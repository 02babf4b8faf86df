"""Cells with spans to rows of one length."""

from hypothesis import given
from hypothesis import strategies as st

from calibrag.collections.tables import Cell, lay_out
from calibrag.records import TableBlock, TextBlock


def table(*rows, captions=(), is_infobox=False):
    (block,) = [b for b in lay_out(rows, captions, is_infobox) if isinstance(b, TableBlock)]
    return block.header, block.rows


def header(text, **spans):
    return Cell(text, is_header=True, **spans)


def test_a_cell_is_repeated_in_the_rows_and_columns_that_it_spans():
    assert table(
        [header("Year"), header("Film"), header("Result")],
        [Cell("1979", rowspan=2), Cell("Alien"), Cell("won")],
        [Cell("Quintet"), Cell("lost")],
        [Cell("1980"), Cell("none", colspan=2)],
    ) == (
        ["Year", "Film", "Result"],
        [["1979", "Alien", "won"], ["1979", "Quintet", "lost"], ["1980", "none", "none"]],
    )


def test_header_rows_are_joined_column_by_column_and_repeat_nothing():
    assert table(
        [header("Team", rowspan=2), header("Conf", colspan=2), header("Pts", rowspan=2)],
        [header("W"), header("L")],
        [Cell("Iowa"), Cell("6"), Cell("2"), Cell("12")],
    ) == (["Team", "Conf – W", "Conf – L", "Pts"], [["Iowa", "6", "2", "12"]])


def test_a_cell_over_a_whole_row_is_written_once():
    assert table(
        [header("A"), header("B")], [Cell("x"), Cell("y")], [Cell("Source: z", colspan=2)]
    ) == (["A", "B"], [["x", "y"], ["Source: z", ""]])  # fmt: skip


def test_a_leading_header_cell_over_the_whole_width_is_a_caption():
    blocks = lay_out([[header("Standings", colspan=9)], [header("A"), header("B")], [Cell("x"), Cell("y")]], ["Cap"])
    assert blocks == [
        TextBlock(text="Cap"), TextBlock(text="Standings"), TableBlock(header=["A", "B"], rows=[["x", "y"]])
    ]  # fmt: skip


def test_columns_that_no_cell_begins_in_are_no_columns():
    assert table([Cell("a"), Cell("b")], [Cell("c", colspan=100)]) == (["", ""], [["a", "b"], ["c", ""]])
    assert table([Cell("a", colspan=2), Cell("b", colspan=3)]) == (["", ""], [["a", "b"]])


def test_blank_rows_and_columns_are_left_out():
    assert table([Cell("a"), Cell(""), Cell("b")], [Cell(""), Cell(""), Cell("")]) == (["", ""], [["a", "b"]])
    assert lay_out([[Cell("")], []]) == []


def test_an_infobox_has_no_header_and_repeats_nothing():
    assert table(
        [header("Alien", colspan=2)], [header("Cast"), Cell("x", colspan=5)], [Cell("a"), Cell("b"), Cell("c")],
        is_infobox=True,
    ) == (["", "", ""], [["Alien", "", ""], ["Cast", "x", ""], ["a", "b", "c"]])  # fmt: skip


def test_a_rowspan_of_zero_reaches_to_the_end():
    assert table([Cell("a", rowspan=0), Cell("b")], [Cell("c")], [Cell("d")])[1] == [["a", "b"], ["a", "c"], ["a", "d"]]


def test_ten_thousand_rows_keep_their_order():
    rows = [[Cell(str(number)), Cell("x")] for number in range(10_000)]
    assert [row[0] for row in table([header("N"), header("X")], *rows)[1]] == [str(n) for n in range(10_000)]


cells = st.builds(
    Cell,
    text=st.sampled_from(["", "a", "b", "c d"]),
    is_header=st.booleans(),
    rowspan=st.integers(0, 5),
    colspan=st.integers(0, 1200),
)


@given(st.lists(st.lists(cells, max_size=5), max_size=6), st.booleans())
def test_whatever_the_spans_every_row_is_as_long_as_the_header_and_no_text_is_lost(rows, is_infobox):
    blocks = lay_out(rows, (), is_infobox)
    shown = {block.text for block in blocks if isinstance(block, TextBlock)}
    for block in blocks:
        if isinstance(block, TableBlock):
            assert {len(row) for row in block.rows} <= {len(block.header)}
            # no-break joins of header rows hold each text
            shown |= {text for cell in (*block.header, *sum(block.rows, [])) for text in cell.split(" – ")}
    assert {cell.text for row in rows for cell in row if cell.text} <= shown
