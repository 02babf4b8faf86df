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
# what shows nothing, or turns what is around it: controls save line breaks and tabs, lone surrogates, line separators,
# direction marks, invisible spaces, tags, and what is no character. Joiners and soft hyphens stay: scripts need them
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufdd0-\ufdef\ufff0-\ufffb\U000e0000-\U000e007f"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
    + "]"
)
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "{}$&#_%"}
    | {
        "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "`": "\\textasciigrave{}",
        "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", '"': "\\symbol{34}",
        # at the start of a row, the commands before it would take these for arguments of theirs
        "[": "{[}", "]": "{]}", "*": "{*}",
        "\N{REPLACEMENT CHARACTER}": "{?}",
    }
)  # fmt: skip
_LIGATURE = re.compile("-(?=-)|'(?=')")
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


def latex(text: str) -> str:
    """Return LaTeX that sets `plain(text)` literally, on one line; an unprintable character shows as ``?``.

    Letters are kept as they are: what lies beyond Latin wants an engine that reads Unicode, and its font.
    """
    escaped = " ".join(plain(text).split()).translate(_LATEX)
    return _LIGATURE.sub(lambda match: match[0] + "{}", escaped)


def visible(text: str) -> str:
    """Return the text with each character that nobody would see, or that hides others, written out: ``⟨U+202E⟩``.

    Unlike `plain`, it says which character stood there. Line breaks become ``\\n``.
    """
    return _UNSEEN.sub(lambda match: f"\u27e8U+{ord(match[0]):04X}\u27e9", text.replace("\r\n", "\n"))
