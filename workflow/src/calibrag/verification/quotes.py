"""Whether and where a quoted span stands in a passage, whatever happened to its spaces, case and punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

# soft hyphens, zero-width spaces and joiners, direction marks, variation selectors
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]")
# "12,000" and "12000" are one number; "12 000" is not, for a space may be any other
_THOUSANDS = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# "1.5" is one number; "1.5.2020" is a date
_DECIMAL = regex.compile(r"(?<![\d.])\d+\.(\d+)(?!\.?\d)")
# letters to Unicode, apostrophes and marks to a reader
_AS_MARKS = str.maketrans(dict.fromkeys("ʹʺʻʼʽˈˌ", "'") | {"™": " ", "℠": " "})
# scripts that write no space between words, or join particles to names
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\p{Lm}&&\p{Common}]", regex.V1
)
# a letter with its marks is folded by itself, so that each folded character is known to come from it; most text is
# runs of plain letters, which are folded at once
_PIECE = regex.compile(r"(?P<plain>[A-Za-z]+)(?=[\x00-\x7f]|$)|\X")
_GAP = "\0"


class _Stream(NamedTuple):
    """A text's letters and digits, where in the text each starts and stops, and where a word starts or ends."""

    letters: str
    starts: list[int]
    stops: list[int]
    borders: set[int]


def stands_in(quote: str, text: str) -> bool:
    """Return whether the quote stands in the text, as ``find_quote`` compares them."""
    return find_quote(quote, text) is not None


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where the quote's letters and digits first stand in the text, in order, from word start to word end.

    Compared after NFKC and case folding, without whitespace, punctuation and invisible characters: ``well-known``
    is ``well known``, a word hyphenated at a line's end is whole, and a table's cell bars do not count. Between two
    digits a gap does count: ``1.5`` is not ``15``, though ``2007-2008`` is ``2007–2008``. ``5`` is no word of
    ``1.5``.

    Returns
    -------
    tuple of int or None
        Start and end in the characters of the text as given, from its first letter or digit to its last. None
        where it does not stand; a quote without a letter or digit stands nowhere.
    """
    wanted = _stream(quote).letters
    if not wanted:
        return None
    held, starts, stops, borders = _stream(text)
    start = held.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if start in borders and end in borders:
            return starts[start], stops[end - 1]
        start = held.find(wanted, start + 1)
    return None


@lru_cache(maxsize=64)  # the quotes of one record ask about one passage
def _stream(text: str) -> _Stream:
    places: Sequence[int] = range(len(text))
    if _INVISIBLE.search(text):
        places = [place for place in places if not _INVISIBLE.match(text[place])]
    seen = "".join([text[place] for place in places]).translate(_AS_MARKS)
    joined = {match.start() for match in _THOUSANDS.finditer(seen)}
    fractions = {match.start(1) for match in _DECIMAL.finditer(seen)}
    letters: list[str] = []
    starts: list[int] = []
    stops: list[int] = []
    borders: set[int] = set()
    apart = unspaced = True
    for piece in _PIECE.finditer(seen):
        start, end = piece.span()
        if piece["plain"]:
            if apart or unspaced:
                borders.add(len(letters))
            letters += piece[0].lower()
            starts += places[start:end]
            stops += places[start + 1 : end]
            stops.append(places[end - 1] + 1)
            apart = unspaced = False
            continue
        if start in joined:
            continue
        if piece[0] == " ":
            apart = True
            continue
        begins = True  # with the next letter, the first of the piece
        for character in _fold(piece[0]):
            category = unicodedata.category(character)
            if category[0] not in "LN" and (category[0] != "M" or begins):
                apart = True
                continue
            digits = category == "Nd" and bool(letters) and letters[-1].isdigit()
            # a raised or a vulgar fraction's digit does not prolong the number before it
            apart = apart or (digits and begins and unicodedata.category(piece[0][0]) == "No")
            was_unspaced, unspaced = unspaced, bool(_UNSPACED.match(character))
            is_border = start not in fractions and (apart or (begins and (unspaced or was_unspaced)))
            if is_border:
                borders.add(len(letters))
            if apart and digits:
                letters.append(_GAP)
                starts.append(places[start])
                stops.append(places[end - 1] + 1)
                if is_border:
                    borders.add(len(letters))
            letters.append(character)
            starts.append(places[start])
            stops.append(places[end - 1] + 1)
            apart = begins = False
    borders.add(len(letters))
    return _Stream("".join(letters), starts, stops, borders)


def _fold(cluster: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
