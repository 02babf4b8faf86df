"""A page under construction: headings, running text, lists and tables become the sections of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from calibrag.records import Section, TableBlock, TextBlock

ITEM = "\x1f"
"""Stands between the items of a list that is read as one line."""

# zero-width space, no-break space and word joiner, soft hyphen, marks of direction: nothing that a reader sees
_UNSEEN = dict.fromkeys(map(ord, "\u200b\ufeff\u2060\u00ad\u200e\u200f"))
_CLOSED = tuple(",;:.!?–-")


def squeeze(text: str) -> str:
    """Return text on one line: whitespace (no-break spaces too) collapsed, invisible characters dropped."""
    return " ".join(text.translate(_UNSEEN).split())


def join_items(text: str, clean: Callable[[str], str] = squeeze) -> str:
    """Return one line; where list items meet (``ITEM``) stands a comma, unless there is a mark or a bracket."""
    joined = ""
    for item in filter(None, map(clean, text.split(ITEM))):
        joined += (" " if joined.endswith(_CLOSED) or item[0] == "(" else ", ") * bool(joined) + item
    return joined


class Page:
    """Collects a page in reading order.

    Parameters
    ----------
    clean
        What makes a line of collected text plain.
    """

    def __init__(self, clean: Callable[[str], str] = squeeze):
        self._clean = clean
        self._sections: list[Section] = [Section(blocks=[])]
        self._headings: list[tuple[int, str]] = []
        self._pieces: list[str] = []
        self._lines: list[str] = []
        self._depth = 0

    def add(self, text: str) -> None:
        """Add text to the line that is open."""
        self._pieces.append(text)

    def end_line(self) -> None:
        """Close the line: a paragraph, or inside a list one of its items."""
        text = self._clean("".join(self._pieces))
        self._pieces.clear()
        if text and self._depth:
            self._lines.append(text)
        elif text:
            self._append(TextBlock(text=text))

    def open_list(self) -> None:
        """Begin a list; one inside another belongs to it."""
        self.end_line()
        self._depth += 1

    def close_list(self) -> None:
        """End a list; the outermost becomes a text block with a line for each item."""
        self.end_line()
        self._depth -= 1
        if not self._depth:
            self._end_list()

    def add_blocks(self, blocks: Iterable[TextBlock | TableBlock]) -> None:
        """Add blocks as they are; text and list items before them come first."""
        self.end_line()
        self._end_list()
        for block in blocks:
            self._append(block)

    def add_heading(self, level: int, text: str) -> None:
        """Begin a section; its heading names those that it stands under too."""
        self.end_line()
        self._end_list()
        self._depth = 0
        if text:
            self._headings = [heading for heading in self._headings if heading[0] < level] + [(level, text)]
            self._sections.append(Section(heading=" – ".join(text for _, text in self._headings), blocks=[]))

    def sections(self) -> list[Section]:
        """Return the sections that hold something; a heading without anything under it is left out."""
        self.end_line()
        self._end_list()
        return [section for section in self._sections if section.blocks]

    def _end_list(self) -> None:
        if self._lines:
            self._append(TextBlock(text="\n".join(self._lines)))
            self._lines = []

    def _append(self, block: TextBlock | TableBlock) -> None:
        self._sections[-1].blocks.append(block)
