"""Wikitext before and after it is parsed: comments and references go first, the marks of bold and italic last.

The parser is not given either: it would read an unclosed mark to the end of a page.
"""

from __future__ import annotations

import re

from calibrag.collections.page import squeeze
from calibrag.collections.wikinames import VERBATIM_TAGS

_SWITCH = re.compile(r"__[A-Z]+__")
# tags that are not closed; a parser shows them, MediaWiki does not
_LOOSE_TAG = re.compile(
    r"</?(abbr|b|big|blockquote|br|center|cite|code|del|div|em|font|i|includeonly|ins|noinclude|nowiki|onlyinclude|p|ref"
    r"|references|s|small|span|strike|strong|sub|sup|table|td|th|tr|tt|u)(\s[^<>]*)?/?>",
    re.I,
)
_RUN = re.compile(r"('{2,})")
_OPENING = re.compile(
    r"<!--|<(?P<name>ref|references|nowiki|pre|math|source|syntaxhighlight|gallery|timeline|score|templatestyles)"
    r"(?=[\s/>])(?:[^<>\"'/]|\"[^\"<>]*\"|'[^'<>]*'|/(?!>)|[\"'])*(?P<closed>/)?>",
    re.I,
)


def without_unseen(source: str) -> str:
    """Return wikitext without its comments and references, found as MediaWiki finds them: before everything else."""
    kept = []
    at = 0
    unclosed: set[str] = set()
    while opening := _OPENING.search(source, at):
        kept.append(source[at : opening.start()])
        name = (opening["name"] or "").lower()
        if opening["closed"]:
            at = opening.end()
            continue
        closing = re.compile(rf"</{name}\s*>" if name else "-->", re.I)
        close = None if name in unclosed else closing.search(source, opening.end())
        if close is None:
            # a comment reaches to the end of the page; a tag goes, what follows it is text
            unclosed.add(name)
            at = opening.end() if name else len(source)
            continue
        at = close.end()
        if name in VERBATIM_TAGS or name == "gallery":
            kept.append(source[opening.start() : at])
    kept.append(source[at:])
    return "".join(kept)


def without_loose_tags(text: str) -> str:
    """Return text that the parser left as it is without the HTML tags in it, which had no partner."""
    return _LOOSE_TAG.sub("", text) if "<" in text else text


def plain(text: str) -> str:
    """Return the text of one paragraph, item or cell: marks of bold and italic and behaviour switches taken out."""
    if "''" in text:
        text = "\n".join(map(without_quotes, text.split("\n")))
    if "__" in text:
        text = _SWITCH.sub("", text)
    return squeeze(text)


def without_quotes(line: str) -> str:
    """Return a line without its marks of bold and italic, literal apostrophes kept.

    Two apostrophes mark italic, three bold, five both; of four the first, of more than five those before the last
    five are text. Where bold and italic are both left open, one mark of bold is an apostrophe and a mark of italic,
    as in ``''Alien'''s`` (MediaWiki, ``BlockLevelPass``/``Parser::doQuotes``).
    """
    parts = _RUN.split(line)
    kept = [len(run) - max(size for size in (2, 3, 5) if size <= len(run)) for run in parts[1::2]]
    sizes = [len(run) - literal for run, literal in zip(parts[1::2], kept, strict=True)]
    italic = sum(size in (2, 5) for size in sizes)
    bold = sum(size in (3, 5) for size in sizes)
    if italic % 2 and bold % 2:
        odd = [number for number, size in enumerate(sizes) if size == 3]
        chosen = min(odd, key=lambda number: (_preference(parts[2 * number]), number), default=None)
        if chosen is not None:
            kept[chosen] += 1
    return "".join(part if number % 2 == 0 else "'" * kept[number // 2] for number, part in enumerate(parts))


def _preference(before: str) -> int:
    """Return how likely the mark after this text begins with an apostrophe: behind one letter, a word, a space."""
    if before.endswith(" ") or not before:
        return 2
    return 0 if len(before) > 1 and before[-2] == " " else 1
