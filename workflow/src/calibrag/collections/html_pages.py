"""Pages in HTML, Wikipedia's above all (old and new skins, whole pages and ``action=render``), to documents.

Left out: what a browser does not show (scripts, styles, hidden elements), navigation (tables of contents, navigation
boxes, sidebars, hatnotes, edit links, category links, page furniture), maintenance notices, references and the marks
that point to them. Kept: headings, paragraphs, lists (an item a line), tables with their captions, infoboxes as tables
of labels and values, captions of images, the TeX source of formulas. A table that only arranges the page is read as
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from urllib.parse import unquote_plus

from lxml import etree

from calibrag.collections.files import Member, declared_encoding, decode, members, name_of, title_of
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.page import ITEM, Page, join_items, squeeze
from calibrag.collections.pooling import Gathered
from calibrag.collections.tables import Cell, lay_out
from calibrag.errors import InputError
from calibrag.records import Document, Section, TableBlock, TextBlock

SUFFIXES = (".html", ".htm", ".xhtml")

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "dl", "menu", "dir"})
_BLOCKS = frozenset(
    "address article blockquote body caption center dd details div dt fieldset figcaption figure footer form header hr"
    " html legend li main p pre section summary table tbody td tfoot th thead tr".split()
)
_UNSEEN_TAGS = frozenset(
    "aside audio button canvas head iframe input link map math meta nav noscript object script select style svg"
    " template textarea title video".split()
)
_UNSEEN_CLASSES = frozenset(
    "ambox autonumber catlinks dablink editsection geo-multi-punct geo-nondefault hatnote magnify metadata"
    " mw-cite-backlink mw-editsection mw-empty-elt mw-indicators mw-jump-link mw-references-wrap navbar navbox"
    " navbox-styles navigation-not-searchable noexcerpt noprint persondata portal printfooter reference"
    " references reflist rellink sidebar sistersitebox sortkey toc vertical-navbox Z3988".split()
)
# shown after all: what a reader can fold open, and ages
_SHOWN_CLASSES = frozenset({"NavContent", "ForceAgeToShow"})
_UNSEEN_IDS = frozenset(
    "catlinks contentSub firstHeading footer jump-to-nav mw-head mw-navigation mw-panel siteNotice siteSub toc".split()
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_DATA_TABLES = frozenset({"wikitable", "infobox"})
_LAYOUT_TABLES = frozenset({"multicol", "cquote", "mbox"})
_SITE = re.compile(r"\s+[-–—]\s+(Wikipedia|Wookieepedia|Fandom|Wikimedia)\b.*$")
_EDIT_LINK = re.compile(r"[?&]title=([^&]+)&(?:[^#]*&)?section=")
# where the content stands, the innermost first
_CONTENT = (
    "//*[contains(concat(' ', normalize-space(@class), ' '), ' mw-parser-output ')]",
    "//*[@id='mw-content-text']",
    "//*[@id='bodyContent']",
    "//main",
    "//article",
    "//body",
)


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document for each page of a folder, a tar or a file; one without any text is left out and counted.

    Raises
    ------
    InputError
        A file is cut off, damaged or not valid in the encoding that it declares, or two pages have one title.
    """
    gathered = Gathered()
    for member in chain.from_iterable(members(path, SUFFIXES) for path in paths):
        title, sections = read_page(member)
        if sections:
            # a page that does not say its title goes by its place in the folder
            doc_id = gathered.claim(title_to_id(title or name_of(member)), member.place, member.name)
            yield Document(doc_id=doc_id, title=title or title_of(member), sections=sections)
        else:
            gathered.leave_out("pages without text", member.place)
    gathered.report()


def read_page(member: Member) -> tuple[str, list[Section]]:
    """Return a page's title and sections.

    The title is that of MediaWiki's ``firstHeading``, else of the head, else of an edit link; '' where it has none.
    """
    text = decode(member.data, member.place, declared_encoding(member.data))
    # libxml2 reads a NUL as the end of the page
    text = text.replace("\0", "\ufffd")
    if not text.strip():
        return "", []
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True, recover=True
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.LxmlError as error:
        raise InputError(member.place, f"cannot be read as HTML ({error})") from None
    # libxml2 would pass over what lies deeper, and go on
    if limits := parser.error_log.filter_types(etree.ErrorTypes.ERR_RESOURCE_LIMIT):
        raise InputError(member.place, f"cannot be read as HTML ({limits[0].message})", limits[0].line)
    if root is None:
        return "", []
    title = _title(root)
    content = next((found for path in _CONTENT for found in root.xpath(path)[:1]), root)
    page = Page()
    _read_content(content, page, title)
    return title, page.sections()


def html_text(fragment: str) -> str:
    """Return the text of a fragment of HTML as one line."""
    if not fragment.strip():
        return ""
    root = etree.fromstring(fragment, etree.HTMLParser(remove_comments=True, remove_pis=True, no_network=True))
    return "" if root is None else _line(root)[0]


def _title(root: etree._Element) -> str:
    for heading in root.xpath("//*[@id='firstHeading']"):
        if title := _line(heading)[0]:
            return title
    for element in root.iter("title"):
        if title := _SITE.sub("", squeeze("".join(element.itertext()))):
            return title
    for link in root.iter("a"):
        if found := _EDIT_LINK.search(link.get("href") or ""):
            return squeeze(unquote_plus(found[1]).replace("_", " "))
    return ""


def _is_unseen(element: etree._Element) -> bool:
    if element.tag in _UNSEEN_TAGS:
        return True
    attributes = element.attrib
    if not attributes:
        return False
    classes = attributes.get("class", "").split()
    if not _SHOWN_CLASSES.isdisjoint(classes):
        return False
    if not _UNSEEN_CLASSES.isdisjoint(classes):
        return True
    if attributes.get("id") in _UNSEEN_IDS or "hidden" in attributes:
        return True
    return bool(_HIDDEN.search(attributes.get("style", "")))


def _formula(element: etree._Element) -> str:
    """Return the TeX source of a formula's image; '' for another image."""
    classes = (element.get("class") or "").split()
    shown = any(name == "tex" or name.startswith("mwe-math-fallback-image") for name in classes)
    return f" {element.get('alt', '')} " if shown else ""


def _read_content(content: etree._Element, page: Page, title: str) -> None:
    """Walk the elements in reading order, without recursion: a page may nest as deep as it likes."""
    walker = etree.iterwalk(content, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            if element is not content and _is_unseen(element):
                walker.skip_subtree()
                continue
            if tag in _HEADINGS:
                heading = _line(element)[0]
                if tag != "h1" or heading != title:
                    page.add_heading(_HEADINGS[tag], heading)
                walker.skip_subtree()
                continue
            if tag == "table" and not _is_layout(element):
                page.add_blocks(_table(element))
                walker.skip_subtree()
                continue
            if tag in _LISTS:
                page.open_list()
            elif tag in _BLOCKS:
                page.end_line()
            elif tag == "br":
                page.add(" ")
            elif tag == "img":
                page.add(_formula(element))
            if element.text:
                page.add(element.text)
            continue
        if tag in _LISTS and not _is_unseen(element):
            page.close_list()
        elif tag in _BLOCKS:
            page.end_line()
        if element.tail and element is not content:
            page.add(element.tail)
    page.end_line()


def _is_layout(table: etree._Element) -> bool:
    """Return whether a table only arranges the page: it says so, holds headings, or is one row of unnamed cells."""
    classes = set((table.get("class") or "").split())
    if table.get("role") == "presentation" or classes & _LAYOUT_TABLES:
        return True
    if any(name.startswith(tuple(_DATA_TABLES)) for name in classes):
        return False
    if next(table.iter(*_HEADINGS), None) is not None:
        return True
    rows = sum(1 for _ in table.iter("tr"))
    return next(table.iter("th"), None) is None and (
        rows == 1 or next(table.iterdescendants("table"), None) is not None
    )


def _table(table: etree._Element) -> list[TextBlock | TableBlock]:
    """Return the blocks of a table, and after them those of the tables inside its cells."""
    is_infobox = "infobox" in (table.get("class") or "")
    rows, captions, inner = [], [], []
    for row in _rows(table):
        cells = []
        # the values of an infobox's row are listed with line breaks
        line_break = ITEM if is_infobox and row.find("th") is not None else " "
        for cell in row.iterchildren("td", "th"):
            if _is_unseen(cell):
                continue
            text, tables = _line(cell, line_break if cell.tag == "td" else " ")
            inner += tables
            cells.append(Cell(text, _is_header(cell, text), _span(cell, "rowspan"), _span(cell, "colspan")))
        rows.append(cells)
    for caption in table.iterchildren("caption"):
        captions.append(_line(caption)[0])
    blocks = lay_out(rows, captions, is_infobox)
    for nested in inner:
        blocks += _table(nested)
    return blocks


def _rows(table: etree._Element) -> Iterator[etree._Element]:
    for child in table.iterchildren():
        if child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child.iterchildren("tr") if not _is_unseen(row))
        elif child.tag == "tr" and not _is_unseen(child):
            yield child


def _span(cell: etree._Element, name: str) -> int:
    found = re.match(r"\s*(\d{1,5})", cell.get(name) or "")
    return int(found[1]) if found else 1


def _is_header(cell: etree._Element, text: str) -> bool:
    """Return whether a cell names a row or column: by its tag, or since all that it holds is bold."""
    if cell.tag == "th":
        return True
    return bool(text) and any(squeeze("".join(bold.itertext())) == text for bold in cell.iter("b", "strong"))


def _line(root: etree._Element, line_break: str = " ") -> tuple[str, list[etree._Element]]:
    """Return an element's text as one line, items of lists set apart, and the tables inside it, left out of it.

    A table of a single row is no grid: its cells are read as items.
    """
    pieces: list[str] = []
    tables = []
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        tag = element.tag
        if event == "start":
            if element is not root and _is_unseen(element):
                walker.skip_subtree()
                continue
            if tag == "table" and element is not root and sum(1 for _ in element.iter("tr")) > 1:
                tables.append(element)
                walker.skip_subtree()
                continue
            if tag in ("li", "dt", "dd", "tr", "td", "th") and element is not root:
                pieces.append(ITEM)
            elif tag in _BLOCKS or tag in _LISTS:
                pieces.append(" ")
            elif tag == "br":
                pieces.append(line_break)
            elif tag == "img":
                pieces.append(_formula(element))
            if element.text:
                pieces.append(element.text)
            continue
        if tag in _BLOCKS and element is not root:
            pieces.append(" ")
        if element.tail and element is not root:
            pieces.append(element.tail)
    return join_items("".join(pieces)), tables
