"""What is kept of a page in HTML, and what is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.collections.files import Member
from calibrag.collections.html_pages import read_documents, read_page
from calibrag.errors import InputError
from calibrag.records import Section, TableBlock, TextBlock


def sections(body, head=""):
    page = f"<html><head>{head}</head><body>{body}</body></html>"
    return read_page(Member("page.html", "page.html", page.encode()))[1]


def blocks(body):
    (section,) = sections(body)
    return section.blocks


def texts(body):
    return [block.text for block in blocks(body)]


def test_headings_open_sections_and_name_those_that_they_stand_under():
    assert sections("<p>Lead.</p><h2>A</h2><p>x</p><h3>B</h3><p>y</p><h2>C</h2><h3>D</h3><p>z</p><h2>Empty</h2>") == [
        Section(blocks=[TextBlock(text="Lead.")]),
        Section(heading="A", blocks=[TextBlock(text="x")]),
        Section(heading="A – B", blocks=[TextBlock(text="y")]),
        Section(heading="C – D", blocks=[TextBlock(text="z")]),
    ]


def test_entities_are_decoded_and_whitespace_collapsed():
    assert texts("<p>Tom &amp;\n  Jerry&nbsp;&lt;b&gt; caf&#233; a\u200bb</p>") == ["Tom & Jerry <b> café ab"]


def test_text_without_a_paragraph_is_kept_and_inline_elements_divide_no_word():
    assert texts("un<b>believ</b>able<div>next<br>line</div>tail") == ["unbelievable", "next line", "tail"]


def test_a_nested_list_is_one_block_with_each_item_once():
    assert texts("<p>Cast:</p><ul><li>A<ul><li>A1</li><li>A2<ol><li>A21</li></ol></li></ul></li><li>B</li></ul>") == [
        "Cast:",
        "A\nA1\nA2\nA21\nB",
    ]


def test_terms_and_definitions_are_lines():
    assert texts("<dl><dt>Term</dt><dd>Meaning</dd></dl>") == ["Term\nMeaning"]


def test_a_list_in_a_cell_is_set_apart_by_commas():
    (table,) = blocks("<table class=wikitable><tr><th>Cast<td>Stars:<ul><li>A</li><li>B;</li><li>C</li></ul></table>")
    assert table.rows == [["Cast", "Stars:, A, B; C"]] or table.rows == [["Cast", "Stars: A, B; C"]]


def test_a_table_has_caption_header_and_spans():
    html = """<table class="wikitable">
    <caption>Awards</caption>
    <thead><tr><th>Year</th><th>Prize</th></tr></thead>
    <tbody><tr><td rowspan="2">1979</td><td>Oscar<sup class="reference">[1]</sup></td></tr>
    <tr><td>Hugo</td></tr></tbody>
    </table>"""
    table = TableBlock(header=["Year", "Prize"], rows=[["1979", "Oscar"], ["1979", "Hugo"]])
    assert blocks(html) == [TextBlock(text="Awards"), table]


def test_a_first_row_in_bold_is_a_header():
    (table,) = blocks("<table class=wikitable><tr><td><b>A</b></td><td><b>B</b></td></tr><tr><td>x<td>y</table>")
    assert (table.header, table.rows) == (["A", "B"], [["x", "y"]])


def test_a_table_inside_a_cell_follows_its_table_once():
    html = """<table class="wikitable"><tr><th>A</th><th>B</th></tr><tr><td>x</td><td>y
    <table><tr><th>C</th></tr><tr><td>z</td></tr></table></td></tr></table>"""
    assert blocks(html) == [
        TableBlock(header=["A", "B"], rows=[["x", "y"]]),
        TableBlock(header=["C"], rows=[["z"]]),
    ]


@pytest.mark.parametrize(
    "table",
    [
        "<table role=presentation><tr><td><p>left</p></td><td><p>right</p></td></tr></table>",
        "<table class=multicol><tr><td>left</td><td>right</td></tr></table>",
        "<table><tr><td>left</td><td>right</td></tr></table>",
    ],
)
def test_a_table_that_arranges_the_page_is_read_as_text(table):
    assert texts(table) == ["left", "right"]


def test_an_infobox_is_a_table_of_labels_and_values():
    html = """<table class="infobox vevent"><tr><th colspan="2">Alien</th></tr>
    <tr><td colspan="2"><img alt="poster" src="a.jpg"><div>Poster</div></td></tr>
    <tr><th>Starring</th><td>A<br>B<br>(uncredited)</td></tr></table>"""
    assert blocks(html) == [
        TableBlock(header=["", ""], rows=[["Alien", ""], ["Poster", ""], ["Starring", "A, B (uncredited)"]])
    ]


def test_captions_of_images_and_galleries_are_text():
    html = """<div class="thumb"><div class="thumbinner"><a><img alt="x"></a><div class="thumbcaption">
    <div class="magnify"><a>Enlarge</a></div>A ship</div></div></div>
    <figure><img alt="y"><figcaption>A crew</figcaption></figure>
    <ul class="gallery"><li class="gallerybox"><div class="gallerytext"><p>An egg</p></div></li></ul>"""
    assert texts(html) == ["A ship", "A crew", "An egg"]


def test_formulas_are_kept_as_tex_once():
    html = """<p>so <span class="mwe-math-element"><span><math><mi>x</mi></math></span>
    <img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}"></span> is</p>"""
    assert texts(html) == [r"so {\displaystyle x^{2}} is"]


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>x()</script>", "<style>p{}</style>", "<!-- x -->", "<span style='display: none'>x</span>",
        "<sup class='reference'>[1]</sup>", "<span class='mw-editsection'>[edit]</span>",
        "<div id='toc'>Contents</div>",
        "<div class='navbox'>x</div>", "<table class='navbox'><tr><td>x</td></tr></table>", "<nav>x</nav>",
        "<ol class='references'><li>x</li></ol>", "<div class='reflist'>x</div>",
        "<div role=note class='hatnote'>x</div>",
        "<table class='metadata ambox'><tr><td>x</td></tr></table>", "<div id='catlinks'>x</div>",
        "<noscript>x</noscript>",
        "<span class='noprint Inline-Template'>[citation needed]</span>", "<p hidden>x</p>", "<template>x</template>",
    ],
)  # fmt: skip
def test_what_no_reader_reads_is_left_out_and_what_follows_it_kept(unseen):
    assert " ".join(texts(f"<p>before</p>{unseen}after")) == "before after"


def test_the_title_is_the_first_heading_and_only_the_content_is_read():
    page = b"""<html><head><title>Alien (film) - Wikipedia</title></head><body>
    <header><h1 id="firstHeading"><i>Alien</i>
    (film)</h1></header><div id="mw-panel">Menu</div><div id="mw-content-text"><div class="mw-parser-output"><p>A film.
    </p></div></div><footer>Imprint</footer></body></html>"""
    title, found = read_page(Member("p", "p.html", page))
    assert title == "Alien (film)"
    assert found == [Section(blocks=[TextBlock(text="A film.")])]


@pytest.mark.parametrize(
    "head, body, title",
    [
        ("<title>Alien (film) - Wikipedia, the free encyclopedia</title>", "<p>x</p>", "Alien (film)"),
        ("", "<p>x <a href='/w/index.php?title=The_%C3%89lite&amp;action=edit&amp;section=1'>e</a></p>", "The Élite"),
        ("", "<p>x</p>", ""),
    ],
)
def test_the_title_is_looked_for_elsewhere_where_there_is_no_first_heading(head, body, title):
    assert read_page(Member("p", "p.html", f"<html><head>{head}</head><body>{body}</body></html>".encode()))[0] == title


def test_the_declared_encoding_is_read_and_bytes_outside_it_are_refused():
    page = "<meta charset='iso-8859-15'><p>caf\xe9 \u20ac</p>".encode("iso-8859-15")
    assert read_page(Member("p", "p.html", page))[1][0].blocks == [TextBlock(text="café €")]
    with pytest.raises(InputError, match=r"a\.tar: p\.html: not valid utf-8 at byte 6 \(0xe9\)"):
        read_page(Member("a.tar: p.html", "p.html", b"<p>caf\xe9</p>"))
    with pytest.raises(InputError, match="declares an encoding that does not exist"):
        read_page(Member("p", "p.html", b"<meta charset=nonsense><p>x</p>"))


def test_pages_of_one_title_are_refused_and_empty_ones_counted(tmp_path, caplog):
    for name, text in (("a.html", "<p>x</p>"), ("b.html", ""), ("c.html", "<title>A b; c</title><p>y</p>")):
        (tmp_path / name).write_text(text)
    assert [(d.doc_id, d.title) for d in read_documents(str(tmp_path))] == [("a", "a"), ("A_b%3B_c", "A b; c")]
    assert "pages without text: 1 left out, such as" in caplog.text
    (tmp_path / "d.html").write_text("<title>A b; c</title><p>z</p>")
    with pytest.raises(InputError, match=r"'A_b%3B_c' is the id of two documents: c\.html and d\.html"):
        list(read_documents(str(tmp_path)))


def test_a_page_that_nests_too_deep_to_be_read_is_refused():
    assert texts("<div>" * 2000 + "deep" + "</div>" * 2000) == ["deep"]
    with pytest.raises(InputError, match="p.html.*cannot be read as HTML .*depth"):
        read_page(Member("p.html", "p.html", b"<div>" * 3000 + b"deep" + b"</div>" * 3000))


def test_a_line_of_five_megabytes_is_read():
    assert len(texts("<p>" + "word " * 1_000_000 + "</p>")[0]) == 4_999_999


words = st.text(alphabet="abcé ", min_size=1, max_size=8)


@given(
    st.recursive(
        words, lambda inner: st.tuples(st.sampled_from(["p", "div", "ul", "li", "b", "span"]), st.lists(inner))
    )
)
def test_every_word_is_kept_once_whatever_the_nesting(tree):
    def html(node):
        return node if isinstance(node, str) else f"<{node[0]}>{' '.join(map(html, node[1]))}</{node[0]}>"

    found = sections(html(tree))
    kept = " ".join(block.text for section in found for block in section.blocks)
    assert sorted(kept.split()) == sorted(html_words(tree))


def html_words(node):
    return node.split() if isinstance(node, str) else [word for part in node[1] for word in html_words(part)]
