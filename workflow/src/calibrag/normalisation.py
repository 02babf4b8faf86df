"""What counts as the same words: shared by quote checks, evidence overlap and the reading of passages."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")

# function words carry no evidence; the list is short on purpose, so that names such as "Who" in titles stay
FUNCTION_WORDS = frozenset(
    "a an and are as at be been by did do does for from had has have he her his how in is it its of on or she that "
    "the their them they this those to was were what when where which who whom whose why will with".split()
)


def words(text: str) -> list[str]:
    """Return the words of a text in order: NFKC, case folded, punctuation dropped."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def content_words(text: str) -> set[str]:
    """Return the distinct words of a text without function words."""
    return set(words(text)) - FUNCTION_WORDS
