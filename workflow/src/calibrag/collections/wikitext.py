"""MediaWiki wikitext to sections.

Left out: comments, references (``<ref>``, ``{{reflist}}``, citation templates), categories and links to other
languages, maintenance, navigation and hatnote templates, coordinates, files without a caption, and templates that are
neither known (see ``templates``) nor wrap a single argument; what was left out most often is said in the log. Kept:
headings, paragraphs, lists, tables, infoboxes (and other templates of named parameters that stand by themselves) as
tables of two columns, captions of files and galleries, links' labels, formulas as TeX.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator

import mwparserfromhell
from mwparserfromhell.nodes import (
    Argument,
    Comment,
    ExternalLink,
    Heading,
    HTMLEntity,
    Node,
    Tag,
    Template,
    Text,
    Wikilink,
)
from mwparserfromhell.wikicode import Wikicode

from calibrag.collections.infoboxes import parameter_table
from calibrag.collections.markup import plain, without_loose_tags, without_unseen
from calibrag.collections.page import ITEM, Page, join_items, squeeze
from calibrag.collections.tables import Cell, lay_out
from calibrag.collections.templates import Arguments, inline_text
from calibrag.collections.wikinames import (
    BLOCK_TAGS,
    CATEGORY,
    FILE,
    FILE_OPTION,
    ITEM_TAGS,
    LANGUAGE_LINK,
    LIST_TAGS,
    SIZE,
    TEXT_PARAMETER,
    TEXT_TEMPLATES,
    UNSEEN_TAGS,
    VERBATIM_TAGS,
    is_table_template,
    is_unseen_template,
)
from calibrag.records import Section, TableBlock, TextBlock

_INDENTED_TABLE = re.compile(r"^[ \t:*#]+(?=\{\|)", re.M)
# what is left of a table whose other half a template holds
_LOOSE_TABLE = re.compile(r"\s*(\{\||\|\}|\|-)")
_FLAG_NAME = re.compile(r"[^\W\d_][\w .'-]*")
_PROSE = re.compile(r"\S+(\s+\S+){3}")


def read_sections(source: str, title: str, unknown: Counter[str]) -> list[Section]:
    """Return the sections of a page.

    Parameters
    ----------
    title
        The page's, which ``{{PAGENAME}}`` shows.
    unknown
        Counts the templates that were left out since nothing is known of them.
    """
    reader = _Reader(title, unknown)
    reader.read(mwparserfromhell.parse(_INDENTED_TABLE.sub("", without_unseen(source)), skip_style_tags=True))
    return reader.page.sections()


class _Reader:
    """Walks the nodes of a page: blocks go to the page, everything else is text of the line that is open."""

    def __init__(self, title: str, unknown: Counter[str]):
        self.page = Page(lambda text: join_items(text, plain))
        self._title = title
        self._unknown = unknown
        self._blocks: list[TextBlock | TableBlock] = []  # found inside a line, to stand behind it
        self._line_is_empty = True
        self._in_marked_list = False
        self._table_depth = 0
        self._line_break = " "

    # --- blocks ------------------------------------------------------------------------------

    def read(self, code: Wikicode) -> None:
        """Read nodes as a run of blocks."""
        nodes = code.nodes
        for position, node in enumerate(nodes):
            if isinstance(node, Text):
                self._read_text(without_loose_tags(str(node)))
            elif isinstance(node, Tag):
                self._read_tag(node)
            elif isinstance(node, Heading):
                self._end_marked_list()
                self.page.add_heading(node.level, self.line(node.title))
                self._flush_blocks()
                self._line_is_empty = True
            elif isinstance(node, Template):
                self._read_template(node, _stands_alone(nodes, position))
            elif isinstance(node, Wikilink) and FILE.match(str(node.title)):
                if caption := self._caption(node):
                    self._end_marked_list()
                    # a picture in the middle of a paragraph must not cut it
                    self._blocks.append(TextBlock(text=caption))
            elif not isinstance(node, Comment):
                self._add(self._inline(node))

    def _add(self, text: str) -> None:
        if text.strip() and self._in_marked_list and self._line_is_empty:
            self._end_marked_list()
        self.page.add(text)
        self._line_is_empty = self._line_is_empty and not text.strip()

    def _read_text(self, text: str) -> None:
        first, *others = text.split("\n")
        self._add(first)
        for line in others:
            if _LOOSE_TABLE.match(line):
                line = ""
            if self._line_is_empty or self._in_marked_list:
                self.page.end_line()
                self._flush_blocks()
            else:
                self.page.add("\n")
            self._line_is_empty = True
            self._add(line)

    def _end_marked_list(self) -> None:
        if self._in_marked_list:
            self._in_marked_list = False
            self.page.close_list()

    def _end_paragraph(self) -> None:
        self._end_marked_list()
        self.page.end_line()
        self._flush_blocks()
        self._line_is_empty = True

    def _flush_blocks(self) -> None:
        if self._blocks:
            blocks, self._blocks = self._blocks, []
            self.page.add_blocks(blocks)

    def _read_tag(self, tag: Tag) -> None:
        name = _tag_name(tag)
        if name in UNSEEN_TAGS:
            return
        if name in ITEM_TAGS and tag.wiki_markup:
            if not self._in_marked_list:
                self.page.open_list()
                self._flush_blocks()
                self._in_marked_list = True
            elif not self._line_is_empty or name != "dd":
                self.page.end_line()
            self._line_is_empty = False
        elif name == "table":
            self._end_paragraph()
            self.page.add_blocks(self._table(tag))
            self._flush_blocks()
        elif name == "gallery":
            self._end_paragraph()
            self.page.add_blocks(TextBlock(text=caption) for caption in self._gallery(tag))
        elif name in LIST_TAGS:
            self._end_marked_list()
            self.page.open_list()
            self.read(tag.contents)
            self.page.close_list()
            self._line_is_empty = True
        elif name in ITEM_TAGS:
            self.page.end_line()
            self.read(tag.contents)
            self.page.end_line()
        elif name in BLOCK_TAGS and name not in VERBATIM_TAGS:
            self._end_paragraph()
            if tag.contents is not None:
                self.read(tag.contents)
            self._end_paragraph()
        elif name in BLOCK_TAGS:
            self._end_paragraph()
            self.page.add(self._verbatim(tag))
            self._end_paragraph()
        elif name in VERBATIM_TAGS or name == "br" or tag.contents is None:
            self._add(self._inline(tag))
        else:
            self.read(tag.contents)

    def _read_template(self, template: Template, alone: bool) -> None:
        name = _template_name(template)
        if name in TEXT_TEMPLATES:
            self._end_paragraph()
            for parameter in template.params:
                if TEXT_PARAMETER.fullmatch(_plain_name(parameter.name)) and not SIZE.fullmatch(str(parameter.value)):
                    self.read(parameter.value)
                    self._end_paragraph()
        elif _is_table(name, template, alone):
            self._end_paragraph()
            self.page.add_blocks(self._parameters(template))
            self._flush_blocks()
        else:
            self._add(self._inline(template))

    # --- lines -------------------------------------------------------------------------------

    def line(self, code: Wikicode | None) -> str:
        """Return nodes as one plain line; tables inside it are kept for later."""
        return join_items(self._raw(code), plain)

    def _raw(self, code: Wikicode | None) -> str:
        return "".join(map(self._inline, code.nodes)) if code is not None else ""

    def _inline(self, node: Node) -> str:
        match node:
            case Text():
                return without_loose_tags(str(node))
            case Wikilink():
                return self._link(node)
            case Template():
                return self._template(node)
            case Tag():
                return self._inline_tag(node)
            case ExternalLink():
                if node.title is not None:
                    return self._raw(node.title)
                return "" if node.brackets else str(node.url)
            case HTMLEntity():
                return html.unescape(str(node))
            case Heading():
                return f" {self._raw(node.title)} "
            case Argument():
                return self._raw(node.default)
        return ""

    def _inline_tag(self, tag: Tag) -> str:
        name = _tag_name(tag)
        if name in UNSEEN_TAGS:
            return ""
        if name in VERBATIM_TAGS:
            return self._verbatim(tag)
        if name == "table":
            self._blocks += self._table(tag)
            return " "
        if name == "gallery":
            return ITEM.join(["", *self._gallery(tag)])
        if name in ITEM_TAGS:
            return ITEM + self._raw(tag.contents)
        if name == "br":
            return self._line_break
        inner = self._raw(tag.contents)
        return f" {inner} " if name in BLOCK_TAGS or name in LIST_TAGS else inner

    def _verbatim(self, tag: Tag) -> str:
        # a word joiner, later dropped, stands between apostrophes, so that they are not read as marks
        text = html.unescape(str(tag.contents or "")).replace("''", "'\u2060'")
        return f" {text} " if _tag_name(tag) == "math" else text

    def _link(self, link: Wikilink) -> str:
        target = str(link.title)
        if FILE.match(target):
            return f" {self._caption(link)} "
        if CATEGORY.match(target) or (link.text is None and LANGUAGE_LINK.match(target)):
            return ""
        if link.text is not None and str(link.text).strip():
            return self._raw(link.text)
        shown = self._raw(link.title).strip().removeprefix(":")
        # a blank label asks for the title without what is in brackets
        return re.sub(r"\s*\([^()]*\)$", "", shown) if link.text is not None else shown

    def _caption(self, link: Wikilink) -> str:
        parts = self._raw(link.text).split("|") if link.text is not None else []
        shown = [part for part in parts if part.strip() and not FILE_OPTION.fullmatch(part)]
        return join_items(shown[-1], plain) if shown else ""

    def _gallery(self, tag: Tag) -> Iterator[str]:
        for entry in str(tag.contents or "").splitlines():
            name, _, caption = entry.partition("|")
            if name.strip() and caption.strip():
                link = mwparserfromhell.parse(f"[[File:x|{caption}]]", skip_style_tags=True).filter_wikilinks()
                if text := self._caption(link[0]) if link else squeeze(caption):
                    yield text

    def _template(self, template: Template) -> str:
        name = _template_name(template)
        if name in ("pagename", "subst:pagename", "fullpagename"):
            return self._title
        if is_table_template(name):
            self._blocks += self._parameters(template)
            return ""
        arguments = Arguments(
            {_plain_name(parameter.name): parameter.value for parameter in template.params}, self._raw
        )
        if (shown := inline_text(name, arguments)) is not None:
            return shown
        if is_unseen_template(name):
            return ""
        if name in TEXT_TEMPLATES:
            shown = [arguments[name] for name in arguments.names if TEXT_PARAMETER.fullmatch(name)]
            return ITEM.join(text for text in shown if not SIZE.fullmatch(text))
        if arguments.is_wrapper:
            return arguments[1]
        if not template.params and self._table_depth and _FLAG_NAME.fullmatch(str(template.name).strip()):
            return str(template.name).strip()
        self._unknown[name] += 1
        shown = [parameter.value for parameter in template.params if _is_prose(parameter.value)]
        return ITEM.join(map(self._raw, shown))

    # --- tables ------------------------------------------------------------------------------

    def _parameters(self, template: Template) -> list[TextBlock | TableBlock]:
        """Return the named parameters of an infobox that a reader sees, with their values, and what is nested in it."""
        outer, self._blocks = self._blocks, []
        self._line_break = ITEM
        values = {_plain_name(parameter.name): self.line(parameter.value) for parameter in template.params}
        self._line_break = " "
        inner, self._blocks = self._blocks, outer
        return parameter_table(_template_name(template), values) + inner

    def _table(self, tag: Tag) -> list[TextBlock | TableBlock]:
        """Return the blocks of a table, and after them those of the tables inside its cells."""
        outer, self._blocks = self._blocks, []
        self._table_depth += 1
        rows: list[list[Cell]] = [[]]
        captions = []
        waiting = list(reversed(tag.contents.nodes)) if tag.contents is not None else []
        while waiting:
            node = waiting.pop()
            name = _tag_name(node) if isinstance(node, Tag) else ""
            if name in ("tr", "thead", "tbody", "tfoot"):
                if name == "tr":
                    rows.append([])
                waiting += reversed(node.contents.nodes if node.contents is not None else [])
            elif name in ("td", "th") and rows == [[]] and str(node).startswith("|+"):
                # mwparserfromhell takes a caption for a cell
                captions.append(self.line(node.contents).removeprefix("+").strip())
            elif name == "caption":
                captions.append(self.line(node.contents))
            elif name in ("td", "th"):
                raw = self._raw(node.contents)
                text = join_items(raw, plain)
                bold = raw.strip().startswith("'''") and raw.strip().endswith("'''")
                cell = Cell(text, name == "th" or bold, _span(node, "rowspan"), _span(node, "colspan"))
                rows[-1].append(cell)
        inner, self._blocks = self._blocks, outer
        self._table_depth -= 1
        return lay_out([row for row in rows if row], captions) + inner


def _is_prose(value: Wikicode) -> bool:
    """Return whether an argument is text to be read, not a setting: it holds a link or at least four words."""
    return bool(_PROSE.search(str(value))) or any(isinstance(node, Wikilink) for node in value.nodes)


def _stands_alone(nodes: list[Node], position: int) -> bool:
    """Return whether nothing else is on the line of a node."""
    before = str(nodes[position - 1]) if position else "\n"
    after = str(nodes[position + 1]) if position + 1 < len(nodes) else "\n"
    return before.rstrip(" \t").endswith("\n") and after.lstrip(" \t").startswith("\n")


def _is_table(name: str, template: Template, alone: bool) -> bool:
    if is_table_template(name):
        return True
    if not alone or is_unseen_template(name):
        return False
    return sum(parameter.showkey for parameter in template.params) >= 3


def _tag_name(tag: Tag) -> str:
    return str(tag.tag).strip().lower()


def _template_name(template: Template) -> str:
    name = template.name.strip_code() if "<!--" in str(template.name) else str(template.name)
    return " ".join(name.replace("_", " ").split()).lower().removeprefix("template:")


def _plain_name(name: Wikicode) -> str:
    return " ".join(re.sub(r"<!--.*?-->", "", str(name), flags=re.S).split())


def _span(tag: Tag, name: str) -> int:
    for attribute in tag.attributes:
        if str(attribute.name).strip().lower() == name and (found := re.match(r"\D*(\d{1,5})", str(attribute.value))):
            return int(found[1])
    return 1
