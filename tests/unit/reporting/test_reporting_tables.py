"""Tables: what hostile text becomes, how numbers read, and that the CSV loses nothing."""

import csv
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from calibrag.reporting.captions import Caption, describe_intervals
from calibrag.reporting.cells import format_number
from calibrag.reporting.escaping import markdown, plain
from calibrag.reporting.tables import markdown_caption, markdown_table, write_table

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = [
    "a | b || c",
    "<script>alert(1)</script>",
    "line one\nline two\r\n| --- |\n# heading",
    "[click](javascript:alert(1)) ![x](http://evil/x.png) <http://evil>",
    "`code` **bold** _it_ ~~no~~ \\| \\ $x$",
    "&lt;b&gt; &#124; &amp;",
    "=HYPERLINK(1)",
    "trailing \\",
]


class Page(HTMLParser):
    """Collects the tags of a page and the text of its cells."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.cells, self.inside = set(), [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += data


def rendered(frame, headings):
    return Page(RENDERER.render(markdown_table(frame, headings, 3, 2)))


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=3))
@example(HOSTILE)
def test_text_comes_back_from_a_rendered_table_as_it_went_in(texts):
    page = rendered(pd.DataFrame({"a": texts, "b": range(len(texts))}), {"a": "a", "b": "b"})
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert len(page.cells) == 2 + 2 * len(texts)
    # a renderer strips the spaces around a cell and may fold the line breaks inside
    assert [cell.split() for cell in page.cells[2::2]] == [plain(text).split() for text in texts]


def test_headings_and_captions_are_escaped_too():
    page = rendered(pd.DataFrame({"a": [1]}), {"a": "<b>|x"})
    assert page.cells == ["<b>|x", "1"]
    text = markdown_caption(Caption("<i>x</i>", {"a|b": 1}, models={"reader": "[m](u)"}, notes=["<u>"]))
    assert Page(RENDERER.render(text)).tags == {"p", "strong"}


def test_no_angle_bracket_survives():
    assert markdown("<b>&lt;") == "&lt;b&gt;&amp;lt;"


def test_links_are_not_made_from_bare_addresses():
    assert markdown("see http://x.y and www.x.y or a@b.c") == "see http&#58;//x.y and www&#46;x.y or a&#64;b.c"


def test_what_cannot_be_printed_is_replaced():
    assert plain("a\x00b\u202ec\ud800d\u2028e\tf") == "a�b�c�d�e\tf"


def test_a_table_by_hand():
    frame = pd.DataFrame(
        {
            "run": ["AC-1", "AC-2"],
            "n": [1200, 64],
            "accuracy": [0.4123, np.nan],
            "accuracy_low": [0.33, np.nan],
            "accuracy_high": [0.488, np.nan],
            "ob": [-0.25, 1.0],
            "gated": [True, False],
        }
    )
    headings = {"run": "run", "n": "n", "accuracy": "acc.", "ob": "OB", "gated": "gated"}
    assert markdown_table(frame, headings, 3, 2) == (
        "| run  |     n |              acc. |    OB | gated |\n"
        "| ---- | ----: | ----------------: | ----: | ----: |\n"
        "| AC-1 | 1,200 | .412 \\[.33, .49\\] | -.250 |   yes |\n"
        "| AC-2 |    64 |                 — | 1.000 |    no |\n"
    )
    assert rendered(frame, headings).cells[7] == ".412 [.33, .49]"


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (0.41234, 3, ".412"),
        (-0.05, 2, "-.05"),
        (-0.00001, 3, ".000"),
        (0.9999, 3, "1.000"),
        (10.5, 1, "10.5"),
        (1234.5, 1, "1,234.5"),
        (0.4, 0, "0"),
        (-0.4, 0, "0"),
    ],
)
def test_numbers_read_as_in_papers(value, digits, expected):
    assert format_number(value, digits) == expected


def test_the_csv_keeps_every_digit_column_and_gap(tmp_path):
    frame = pd.DataFrame({"z": [0.1 + 0.2, np.nan], "a": HOSTILE[2:4], "n": [3, 4]})
    write_table(frame, [tmp_path / "deep/t.csv", tmp_path / "deep/t.md"], {"n": "n"}, Caption("x"), 3, 2)
    with open(tmp_path / "deep/t.csv", newline="", encoding="utf-8") as lines:
        assert list(csv.reader(lines)) == [
            ["z", "a", "n"],
            ["0.30000000000000004", HOSTILE[2], "3"],
            ["", HOSTILE[3], "4"],
        ]
    assert (tmp_path / "deep/t.md").read_text() == "**x**\n\n|   n |\n| --: |\n|   3 |\n|   4 |\n"


def test_a_heading_without_a_column_is_refused():
    with pytest.raises(KeyError, match="hmr"):
        markdown_table(pd.DataFrame({"a": [1]}), {"hmr": "HMR"}, 3, 2)


def test_the_caption_states_how_the_table_was_made():
    text = Caption(
        "Answer runs.",
        {"film": 64, "hotpotqa-open": 1000},
        {"bootstrap": 13},
        {"reader": "SmolLM2-135M"},
        describe_intervals(0.95, 10_000),
        ["Missing questions: present."],
    )
    assert markdown_caption(text) == (
        "**Answer runs.** n: film 64 questions; hotpotqa-open 1,000 questions. "
        "Intervals: 95 % percentile bootstrap over questions, 10,000 resamples. Seeds: bootstrap 13. "
        "Models: reader SmolLM2-135M. Missing questions: present."
    )


def test_an_empty_table_has_its_header():
    assert markdown_table(pd.DataFrame({"a": []}), {"a": "a"}, 3, 2).count("\n") == 2
