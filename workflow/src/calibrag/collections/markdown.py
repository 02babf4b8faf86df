"""Markdown (CommonMark and GitHub's tables) to documents, a file each.

The title is that of the front matter, else the first heading of level 1, else the file's name. Raw HTML is read as
text, images by their description; a block of code stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from calibrag.collections.files import Member, decode, members, name_of, title_of
from calibrag.collections.html_pages import html_text
from calibrag.collections.identifiers import title_to_id
from calibrag.collections.page import Page, squeeze
from calibrag.collections.pooling import Gathered
from calibrag.collections.tables import Cell, lay_out
from calibrag.errors import InputError
from calibrag.records import Document, Section, TextBlock

SUFFIXES = (".md", ".markdown", ".mdown")
_FENCE = "---"


def read_documents(*paths: str) -> Iterator[Document]:
    """Yield a document for each file; one without any text is left out and counted.

    Raises
    ------
    InputError
        A file is cut off, damaged or not valid UTF-8, or its front matter is no YAML.
    """
    gathered = Gathered()
    # tables nest no deeper than a page of text does; links are not made out of bare addresses
    parser = MarkdownIt("commonmark").enable("table")
    for member in chain.from_iterable(members(path, SUFFIXES) for path in paths):
        title, sections = read_page(member, parser)
        if sections:
            doc_id = gathered.claim(title_to_id(name_of(member)), member.place, member.name)
            yield Document(doc_id=doc_id, title=title, sections=sections)
        else:
            gathered.leave_out("files without text", member.place)
    gathered.report()


def read_page(member: Member, parser: MarkdownIt) -> tuple[str, list[Section]]:
    """Return a file's title and sections."""
    title, text = _without_front_matter(decode(member.data, member.place), member.place)
    tokens = parser.parse(text)
    start = 0
    if not title and tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title, start = _line(tokens[1]), 3
    page = Page()
    _read_tokens(tokens[start:], page)
    return title or title_of(member), page.sections()


def _without_front_matter(text: str, place: str) -> tuple[str, str]:
    """Return the title that YAML between two lines of ``---`` at the start names ('' without one), and the rest."""
    first, *others = text.split("\n")
    if first.rstrip() != _FENCE or _FENCE not in (end := [line.rstrip() for line in others]):
        return "", text
    last = end.index(_FENCE)
    try:
        settings = yaml.safe_load("\n".join(others[:last]))
    except yaml.YAMLError as error:
        raise InputError(place, f"the front matter is no YAML ({' '.join(str(error).split())})") from None
    if settings is not None and not isinstance(settings, dict):
        return "", text
    title = (settings or {}).get("title") or ""
    return squeeze(str(title)), "\n".join(others[last + 1 :])


def _read_tokens(tokens: Sequence[Token], page: Page) -> None:
    rows: list[list[Cell]] = []
    heading_level = 0
    for token in tokens:
        match token.type:
            case "heading_open":
                heading_level = int(token.tag[1])
            case "inline" if heading_level:
                page.add_heading(heading_level, _line(token))
                heading_level = 0
            case "bullet_list_open" | "ordered_list_open":
                page.open_list()
            case "bullet_list_close" | "ordered_list_close":
                page.close_list()
            case "table_open":
                rows = []
            case "tr_open":
                rows.append([])
            case "th_open" | "td_open":
                rows[-1].append(Cell("", token.type == "th_open"))
            case "inline" if rows:
                rows[-1][-1] = rows[-1][-1]._replace(text=_line(token))
            case "table_close":
                page.add_blocks(lay_out(rows))
                rows = []
            case "inline":
                page.add(_line(token))
                page.end_line()
            case "fence" | "code_block":
                if code := token.content.rstrip().strip("\n"):
                    page.add_blocks([TextBlock(text=code)])
            case "html_block":
                page.add(html_text(token.content))
                page.end_line()


def _line(token: Token) -> str:
    pieces = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif child.type == "image":
            pieces.append(_line(child))
        elif child.type != "html_inline":
            pieces.append(child.content)
        elif child.content.lower().startswith("<br"):
            pieces.append(" ")
    return squeeze("".join(pieces))
