"""Real pages of Wikipedia (tests/documents): counts, chosen text, nothing lost, nothing left of the markup."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import lxml.html
import pytest

from calibrag.collections.files import members
from calibrag.collections.reading import read_documents
from calibrag.records import TableBlock, TextBlock

PAGES = Path(__file__).parents[2] / "documents"
HTML = str(PAGES / "html.tar.xz")
WIKITEXT = str(PAGES / "wikitext.tar.xz")

# what the reader leaves out, said once more and in another way
UNSEEN = (
    "//script|//style|//comment()|//sup[@class='reference']|//*[contains(@class,'editsection')]|//*[@id='toc']"
    "|//*[contains(@class,'navbox')]|//*[contains(@class,'reflist')]|//ol[@class='references']"
    "|//*[contains(@class,'hatnote')]|//*[contains(@class,'metadata')]|//*[contains(@class,'persondata')]"
    "|//*[contains(@class,'noprint') and contains(@class,'Inline')]|//*[contains(@class,'sortkey')]"
    "|//*[contains(@class,'navbar')]|//div[@class='magnify']|//a[contains(@class,'autonumber')]"
    "|//*[contains(translate(@style,' ',''),'display:none') and not(contains(@class,'NavContent'))]"
)


@pytest.fixture(scope="module")
def html():
    return {document.title: document for document in read_documents("html", HTML)}


@pytest.fixture(scope="module")
def wikitext():
    return {document.title: document for document in read_documents("mediawiki", WIKITEXT)}


def blocks(document, kind=None):
    return [block for section in document.sections for block in section.blocks if kind is None or type(block) is kind]


def headings(document):
    return [section.heading for section in document.sections]


def words(text):
    return re.findall(r"\w+", text)


def words_of(document):
    found = Counter()
    parts = [(section.heading or "").split(" – ") for section in document.sections]
    # a heading is named by every section below it
    for heading in dict.fromkeys(tuple(path[: n + 1]) for path in parts for n in range(len(path))):
        found.update(words(heading[-1]))
    for block in blocks(document):
        cells = (
            [block.text] if isinstance(block, TextBlock) else [c for row in (block.header, *block.rows) for c in row]
        )
        for cell in cells:
            found.update(words(cell))
    return found


def seen_in_source(data):
    """Count the words of a page by another way: the text of the tree once unseen elements are taken out."""
    root = lxml.html.fromstring(data.decode())
    for element in root.xpath(UNSEEN):
        if element.getparent() is not None:
            element.drop_tree()
    for element in root.iter("br", "li", "td", "th", "tr", "p", "div", "dd", "dt", "h2", "h3", "caption", "table"):
        element.tail = f" {element.tail or ''}"
        element.text = f" {element.text or ''}"
    # a heading with nothing under it is left out: the last one first
    for heading in reversed(root.xpath("//h2|//h3|//h4")):
        after = heading.getnext()
        if after is None or (after.tag in ("h2", "h3", "h4") and after.tag <= heading.tag):
            heading.drop_tree()
    return Counter(words(root.text_content()))


def test_the_archives_are_those_that_the_notice_names():
    notice = (PAGES / "NOTICE").read_text()
    for path in sorted(PAGES.glob("*.tar.xz")):
        assert f"{path.name}    sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}" in notice


@pytest.mark.parametrize(
    "title, sections, texts, tables, rows",
    [
        ("Princess Disneymania", 3, 1, 3, 8 + 14 + 3),
        ("Disneymania 4", 6, 6, 3, 9 + 17 + 2),
        ("Gus (2011 film)", 4, 4, 2, 11 + 14),
        ("1942–43 New York Rangers season", 6, 11, 11, 107),
        ("1982 Ohio State Buckeyes football team", 8, 7, 25, 91),
        ("Military transport aircraft", 7, 18, 2, 39),
    ],
)
def test_html_pages_have_their_sections_texts_and_tables(html, title, sections, texts, tables, rows):
    document = html[title]
    assert len(document.sections) == sections
    assert len(blocks(document, TextBlock)) == texts
    assert len(blocks(document, TableBlock)) == tables
    assert sum(len(table.rows) for table in blocks(document, TableBlock)) == rows


@pytest.mark.parametrize("member", list(members(HTML, (".html",))), ids=lambda member: member.name)
def test_no_word_of_an_html_page_is_lost(html, member):
    title = member.name.removesuffix(".html").replace("_", " ")
    lost = seen_in_source(member.data) - words_of(html[title])
    assert lost == Counter()


@pytest.mark.parametrize("title", ["Princess Disneymania", "Disneymania 4"])
def test_no_word_of_an_html_page_without_spans_is_doubled(html, title):
    (member,) = (m for m in members(HTML, (".html",)) if m.name == f"{title.replace(' ', '_')}.html")
    added = words_of(html[title]) - seen_in_source(member.data)
    assert added == Counter()


def test_rowspans_give_each_row_its_own_festival(html):
    table = blocks(html["Gus (2011 film)"], TableBlock)[1]
    assert table.header == ["Festival", "Year", "Award", "Nominee", "Result"]
    assert [row[:3] for row in table.rows if row[0].startswith("Village")] == [
        ["Village Roadshow Queensland New Filmmakers Awards", "2011", "Best Animation"],
        ["Village Roadshow Queensland New Filmmakers Awards", "2011", "Best Film"],
        ["Village Roadshow Queensland New Filmmakers Awards", "2011", "Best Direction"],
    ]


def test_an_infobox_keeps_labels_values_and_captions(html):
    assert blocks(html["Gus (2011 film)"], TableBlock)[0].rows[:7] == [
        ["Gus", ""],
        ["Official Poster for Gus", ""],
        ["Directed by", "Andrew Martin"],
        ["Produced by", "Andrew Martin"],
        ["Written by", "Andrew Martin"],
        ["Starring", "Ray Sinclair, Jacob Worth"],
        ["Music by", "Liam Flenady, Lisa Cheney"],
    ]


def test_a_header_of_two_rows_and_tables_inside_tables(html):
    document = html["1982 Ohio State Buckeyes football team"]
    standings = next(table for table in blocks(document, TableBlock) if table.header[0] == "Team")
    assert standings.header[:4] == ["Team", "Conf – W", "Conf", "Conf – L"]
    assert standings.rows[1] == ["#12/12 Ohio State", "7", "–", "1", "–", "0", "9", "–", "3", "–", "0"]
    (purdue,) = (section for section in document.sections if section.heading == "Season summary – Purdue")
    assert purdue.blocks[1] == TableBlock(
        header=["", "1", "2", "3", "4", "Total"],
        rows=[["Purdue", "3", "3", "0", "0", "6"], ["• Ohio St", "14", "3", "14", "7", "38"]],
    )


def test_what_is_folded_away_is_read(html):
    months = [table.header[1] for table in blocks(html["1942–43 New York Rangers season"], TableBlock)
              if table.header[0] == "Game"]  # fmt: skip
    assert months[:3] == ["October", "November", "December"]


def test_a_redirect_is_no_document(wikitext, caplog):
    assert "Redirect" not in wikitext
    assert len(wikitext) == 6
    list(read_documents("mediawiki", WIKITEXT))
    assert "redirects: 1 left out" in caplog.text


def test_wikitext_tables_have_header_and_rows(wikitext):
    race = wikitext["2008 British motorcycle Grand Prix"]
    assert headings(race)[:4] == [None, "MotoGP classification", "250 cc classification", "125 cc classification"]
    table = blocks(race, TableBlock)[1]
    assert table.header == ["Pos.", "No.", "Rider", "Manufacturer", "Laps", "Time/Retired", "Grid", "Points"]
    assert table.rows[0] == ["1", "1", "Casey Stoner", "Ducati", "30", "44:44.982", "1", "25"]
    films = blocks(wikitext["List of British films of 2014"], TableBlock)[0]
    assert films.header[:3] == ["Title", "Director", "Cast (Subject of documentary)"]
    assert films.rows[0][:3] == [
        "'71",
        "Yann Demange",
        "Jack O'Connell, Sean Harris, Paul Anderson, Charlie Murphy, David Wilmot, Paul Popplewell",
    ]


def test_a_wikitext_infobox_says_what_the_page_shows(wikitext):
    rows = blocks(wikitext["Senate of Pakistan"], TableBlock)[0].rows
    assert ["name", "Senate of Pakistan, ایوانِ بالا پاکستان"] in rows
    assert ["Chairman", "Raza Rabbani"] in rows
    assert ["new session", "March 5, 2015"] in rows


def test_exact_text_of_wikitext(wikitext):
    assert blocks(wikitext["Tour EP (Band of Horses EP)"], TextBlock)[0].text == (
        "The Tour EP is an EP by Band of Horses, which preceded their debut album, Everything All the Time. The"
        " self-released EP was initially sold at shows and was later made available in limited quantities at Sub Pop's"
        " website. It features early versions of five tracks from Everything All the Time as well as the otherwise"
        ' unavailable track "(Biding Time Is A) Boat To Row."'
    )
    ambassadors = blocks(wikitext["Liste der argentinischen Botschafter in Chile"], TableBlock)[0]
    assert ambassadors.rows[0][:3] == ["1810", "José Antonio Álvarez Jonte", "Ministre plénipotentiaire"]


RESIDUE = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|'''|</?[a-z]+[ />]|&(#\d+|[a-z]+);|\|-|rowspan|colspan|style=|\bthumb\b"
)


def test_no_markup_is_left(html, wikitext):
    for document in (*html.values(), *wikitext.values()):
        for block in blocks(document):
            texts = [block.text] if isinstance(block, TextBlock) else sum([block.header, *block.rows], [])
            for text in texts:
                assert not RESIDUE.search(text), (document.title, text)
                assert text == text.strip()
                assert "  " not in text
                assert "\xa0" not in text
