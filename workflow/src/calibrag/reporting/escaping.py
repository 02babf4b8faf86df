"""Text from corpora, questions and models, made harmless before it enters a page: it is data, never markup."""

from __future__ import annotations

import re
import unicodedata

_REFERENCES = {character: f"&#{ord(character)};" for character in "|$@\n\r\t"}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BACKSLASHED = {character: f"\\{character}" for character in "\\`*_[]~"}
_ESCAPES = str.maketrans(_REFERENCES | _ENTITIES | _BACKSLASHED)
# U+200E, U+200F, U+202A-E, U+2066-9 and U+061C turn the direction of the text around them
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_LINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def plain(text: str) -> str:
    """Return the text with what no page should carry made U+FFFD: control characters save line breaks and tabs,
    lone surrogates, Unicode line separators, direction marks."""
    shown = (
        "\N{REPLACEMENT CHARACTER}"
        if character not in "\n\r\t" and unicodedata.category(character) in _UNPRINTABLE
        else character
        for character in text
    )
    return _DIRECTION.sub("\N{REPLACEMENT CHARACTER}", "".join(shown))


def markdown(text: str) -> str:
    """Return Markdown (GitHub's dialect) that shows `plain(text)` literally: one line, no markup, HTML or link.

    Line breaks and ``|`` become character references, which keep a table row whole in every renderer.
    """
    return _LINK.sub(lambda match: f"&#{ord(match[0])};", plain(text).translate(_ESCAPES))
