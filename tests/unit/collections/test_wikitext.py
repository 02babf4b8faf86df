"""What is kept of a page of wikitext, and what is left out."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.collections.markup import without_quotes, without_unseen
from calibrag.collections.wikitext import read_sections
from calibrag.records import Section, TableBlock, TextBlock


def sections(source, unknown=None):
    return read_sections(source, "Alien (film)", Counter() if unknown is None else unknown)


def blocks(source):
    return [block for section in sections(source) for block in section.blocks]


def line(source):
    (block,) = blocks(source)
    return block.text


@pytest.mark.parametrize(
    "source, shown",
    [
        ("'''Alien''' is a ''1979'' film", "Alien is a 1979 film"),
        ("''Alien'''s crew and the '''''Nostromo'''''", "Alien's crew and the Nostromo"),
        ("it's ''Scott's'' film", "it's Scott's film"),
        ("[[Ridley Scott|Scott]], [[film]]s, [[Alien (film)|]]", "Scott, films, Alien"),
        ("[[:Category:Films]] and [[:de:Alien|German]]", "Category:Films and German"),
        ("a[[Category:Films]][[de:Alien]][[Kategorie:Film]] b", "a b"),
        ("[http://x.org the site], [http://x.org], http://y.org", "the site, , http://y.org"),
        ("a &amp; b&nbsp;c &#8211; &lt;b&gt;", "a & b c – <b>"),
        ("a<!-- hidden --> b<ref>cited {{cite web|x}}</ref> c<ref name='n' /> d<references/>", "a b c d"),
        ("H<sub>2</sub>O<br/>is <small>water</small>", "H2O is water"),
        ("so <math>x^2 < y</math> is <nowiki>[[not]] a ''link''</nowiki>", "so x^2 < y is [[not]] a ''link''"),
        ("open <small>tag and stray</ref> end", "open tag and stray end"),
        ("__NOTOC__text", "text"),
        ("{{lang|fr|oui}} {{nowrap|a b}} {{small|c}} {{abbr|d|e}}", "oui a b c d"),
        ("{{convert|126|mm|in|0|abbr=on}}, {{convert|5|to|7|km|mi}}", "126 mm, 5 to 7 km"),
        ("{{birth date|1929|8|22}}; {{birth date and age|df=y|1968|7|21}}", "August 22, 1929; 21 July 1968"),
        ("{{death date and age|2012|2|16|1929|8|22}}", "February 16, 2012 (aged 82)"),
        ("{{film date|1979|5|25|United States|1979|9|6|UK}}", "May 25, 1979 (United States), September 6, 1979 (UK)"),
        ("{{dts||10|17}} {{start date|2005}} {{as of|2011|alt=in 2011}}", "October 17 2005 in 2011"),
        ("{{hlist|a|b|[[c|d]]}}", "a, b, d"),
        ("{{sortname|A|Long Way Down|dab=film}} {{url|http://www.x.org/}}", "A Long Way Down x.org"),
        ("{{circa|1900}} {{ndash}} {{flag|Canada}} {{formatnum:1234}}", "c. 1900 – Canada 1234"),
        ("{{unheard of|the text}} {{flagicon|FRA}}{{citation needed|date=May 2010}}!", "the text !"),
        ("{{lang|fr|{{nowrap|'''oui'''}}<ref>x</ref>}}", "oui"),
        ("{{PAGENAME}} {{{1|default}}}", "Alien (film) default"),
        ("{{quote|He said ''so''.|Someone}}", None),
    ],
)
def test_a_line_reads_as_its_reader_sees_it(source, shown):
    if shown is None:
        assert [block.text for block in blocks(source)] == ["He said so.", "Someone"]
    else:
        assert line(source) == shown


def test_headings_paragraphs_and_lists():
    source = (
        "Lead\nlead.\n\nTwo.\n== A ==\n* one\n** one ''a''\n* two\n# n\nafter\n=== B ===\n;term: def\n:in\n== No ==\n"
    )
    assert sections(source) == [
        Section(blocks=[TextBlock(text="Lead lead."), TextBlock(text="Two.")]),
        Section(heading="A", blocks=[TextBlock(text="one\none a\ntwo\nn"), TextBlock(text="after")]),
        Section(heading="A – B", blocks=[TextBlock(text="term\ndef\nin")]),
    ]


def test_a_table_has_captions_header_spans_and_the_tables_of_its_cells():
    source = """{| class="wikitable"
|+ style="x" | Films of ''1979''
! Year !! Film
|-
| rowspan="2" | 1979 || [[Alien (film)|Alien]]<ref>x</ref>
|-
| style="color:red" | Quintet
* a
* b
{|
! In
! ner
|-
| 1 || 2
|}
|}"""
    assert blocks(source) == [
        TextBlock(text="Films of 1979"),
        TableBlock(header=["Year", "Film"], rows=[["1979", "Alien"], ["1979", "Quintet, a, b"]]),
        TableBlock(header=["In", "ner"], rows=[["1", "2"]]),
    ]


def test_an_indented_table_and_one_in_html_are_tables_too():
    table = TableBlock(header=["A", "B"], rows=[["x", "y"]])
    assert blocks(":{|\n! A !! B\n|-\n| x || y\n|}") == [table]
    assert blocks("<table><tr><th>A</th><th>B</th></tr><tr><td>x</td><td>y</td></tr></table>") == [table]


def test_flags_without_arguments_keep_their_name_inside_a_table():
    assert blocks("{|\n| {{Chile}} || x\n|}")[0].rows == [["Chile", "x"]]


def test_an_infobox_is_a_table_of_what_it_says():
    source = """{{Infobox film <!-- see the project -->
| name = Alien
| image = Alien.jpg
| image_size = 200px
| caption = Poster by [[X]]
| leader_title1 = Mayor
| leader_name1 = Jane
| starring = {{plainlist|
* [[A]]
* B
}}
| released = {{film date|1979|5|25}}
| budget = $11 million<br>estimated
| bgcolor = ff0000
| empty =
| module = {{Infobox person | born = 1937 }}
}}
'''Alien''' is a film."""
    assert blocks(source) == [
        TableBlock(
            header=["", ""],
            rows=[
                ["name", "Alien"],
                ["caption", "Poster by X"],
                ["Mayor", "Jane"],
                ["starring", "A, B"],
                ["released", "May 25, 1979"],
                ["budget", "$11 million, estimated"],
            ],
        ),
        TableBlock(header=["", ""], rows=[["born", "1937"]]),
        TextBlock(text="Alien is a film."),
    ]


def test_a_numbered_series_of_parameters_is_a_table():
    source = "{{Track listing\n| title1 = A\n| length1 = 1:00\n| title2 = B\n| length2 = 2:00\n}}"
    assert blocks(source) == [TableBlock(header=["title", "length"], rows=[["A", "1:00"], ["B", "2:00"]])]


def test_captions_of_files_and_galleries_are_kept():
    source = """[[File:a.jpg|thumb|200px|alt=x|A ''ship'' in [[space]]]]Text.
<gallery>
File:b.jpg|An [[egg]]
File:c.jpg
</gallery>"""
    assert sorted(block.text for block in blocks(source)) == ["A ship in space", "An egg", "Text."]


def test_a_file_in_the_middle_of_a_paragraph_does_not_cut_it():
    assert [b.text for b in blocks("One [[Datei:a.jpg|mini|cap]]sentence.\n\nNext.")] == [
        "One sentence.",
        "cap",
        "Next.",
    ]


def test_unknown_templates_are_counted_and_their_sentences_kept():
    unknown = Counter()
    sections("{{Strange|one|2|mode=x}} {{Odd|a|a long enough sentence here|b}}", unknown)
    assert unknown == {"strange": 1, "odd": 1}
    assert line("x {{Odd|a|a long enough sentence here|b}}") == "x a long enough sentence here"


@pytest.mark.parametrize(
    "source",
    ["{{" * 5000, "[[" * 5000, "{|\n" * 500, "<ref>" * 20_000, "<!--" * 20_000, "'" * 10_001, "{{{{{{|}}}|}}" * 500],
)
def test_broken_markup_ends_in_time(source):
    """What stands before it is kept."""
    assert "before" in str(sections(f"before\n\n{source}"))


def test_comments_and_references_are_found_before_anything_else():
    assert without_unseen("a<!-- <ref> -->b<ref>{{x|<!-- -->}}</ref>c<nowiki><ref>d</ref></nowiki>") == (
        "abc<nowiki><ref>d</ref></nowiki>"
    )
    assert without_unseen('a<ref name="a/b">x</ref><ref name=c/>d <ref>open') == "ad open"
    assert without_unseen("a<!-- open") == "a"
    assert without_unseen("İİİ<REF>x</Ref >b") == "İİİb"


@given(st.text(alphabet="ab '"))
def test_without_quotes_only_apostrophes_go_and_single_ones_stay(text):
    shown = without_quotes(text)
    assert shown.replace("'", "") == text.replace("'", "")
    if "''" not in text:
        assert shown == text


@given(st.lists(st.text(alphabet="abc", min_size=1), min_size=1, max_size=20), st.data())
def test_every_word_is_kept_once_whatever_the_markup(words, data):
    forms = st.sampled_from(
        ["{}", "'''{}'''", "[[x|{}]]", "\n* {}", "\n\n{}", "\n== {} ==\nz ", "{{{{lang|fr|{}}}}}", "<b>{}</b>", "\n:{}"]
    )
    chosen = [data.draw(forms) for _ in words]
    found = sections(" ".join(form.format(word) for form, word in zip(chosen, words, strict=True)))
    kept = Counter(word for section in found for block in section.blocks for word in block.text.split())
    kept += Counter(section.heading.rpartition(" – ")[2] for section in found if section.heading)
    headings = sum(form.startswith("\n==") for form in chosen)
    assert kept == Counter(words) + Counter({"z": headings})
