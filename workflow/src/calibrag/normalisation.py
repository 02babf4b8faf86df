"""What counts as the same words and the same answer, wherever texts are compared."""

from __future__ import annotations

import re
import string
import unicodedata
from decimal import Decimal

from text_to_num import alpha2digit

_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)")
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# bounded, so that the product is exact
_SCALED = re.compile(r"(?<![\w.])(\d{1,15}(?:\.\d{1,6})?) (" + "|".join(_SCALES) + r")\b")
_CLOSING_UP = frozenset("'‘’`.")

# function words carry no evidence; the list is short on purpose, so that names such as "Who" in titles stay
FUNCTION_WORDS = frozenset(
    "a an and are as at be been by did do does for from had has have he her his how in is it its of on or she that "
    "the their them they this those to was were what when where which who whom whose why will with".split()
)


def words(text: str) -> list[str]:
    """Return the words of a text in order: NFKC, case folded, punctuation dropped."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def name_key(name: str) -> str:
    """Return the key under which spellings of one name meet: its words, case folded and without accents."""
    decomposed = unicodedata.normalize("NFKD", name)
    return " ".join(words("".join(letter for letter in decomposed if not unicodedata.combining(letter))))


def content_words(text: str) -> set[str]:
    """Return the distinct words of a text without function words."""
    return set(words(text)) - FUNCTION_WORDS


def answer_key(text: str) -> str:
    """Return the key under which equal answers meet; empty only for blank text.

    NFKC, case folded, thousands separators removed, punctuation stripped (points and apostrophes close up, other
    marks become spaces; decimal points and minus signs stay), English number words to digits ("twenty-five" and
    "2 million" to "25" and "2000000"), articles stripped, spaces collapsed. Text that this would empty, such as
    the band "The The", keeps its folded form.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("−", "-")
    key = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), folded)
    key = " ".join(_strip_punctuation(key).split())
    key = _SCALED.sub(_unscale, key)
    # threshold 0: the library would else leave small isolated numbers, "two" among them, as words
    key = alpha2digit(key, "en", threshold=0)
    key = " ".join(_ARTICLE.sub(" ", key).split())
    return key or " ".join(folded.split())


def _strip_punctuation(text: str) -> str:
    return "".join(
        character if _is_kept(character, before, after) else "" if character in _CLOSING_UP else " "
        for before, character, after in zip(" " + text, text, text[1:] + " ", strict=False)
    )


def _is_kept(character: str, before: str, after: str) -> bool:
    if not (unicodedata.category(character).startswith("P") or character in string.punctuation):
        return True
    decimal_point = character == "." and before.isdecimal() and after.isdecimal()
    minus = character == "-" and before.isspace() and after.isdecimal()
    return decimal_point or minus


def _unscale(match: re.Match[str]) -> str:
    value = Decimal(match[1]) * _SCALES[match[2]]
    return str(int(value)) if value == int(value) else str(value)
