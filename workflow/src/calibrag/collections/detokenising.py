"""Turning text that was tokenised with spaces back into normal text.

OTT-QA's articles, cells, questions and answers stand as ``Major 's ( 1965 ) , a song``. Every rule below looks at
one token and the space beside it, never at the rest of the sentence: so an answer that is a run of tokens of
its passage is rewritten as the passage is, and stays a literal substring of it (but see the double quotes).
What the tokeniser lost for good (double quotes in articles, ``can not``) is not guessed at.
"""

from __future__ import annotations

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # the tokeniser's double quotes; both ends are written `` in questions
        (r"(?:^|(?<=\s))(?:``|'') (.+?) (?:``|'')(?=\s|$)", r'"\1"'),
        # closing punctuation: a token of its own, so that ".22" and "1.5" are left alone
        (r" ([.,;:!?)\]}»])(?=\s|$)", r"\1"),
        (r"(?<![^\s(\[{«])([(\[{«]) ", r"\1"),
        # clitics of English
        (r" ('(?:s|S|re|ve|ll|d|m)|n't|N'T)(?=[\s.,;:!?)\]}]|$)", r"\1"),
        (r" ’ (s|re|ve|ll|d|m)(?=[\s.,;:!?)\]}]|$)", r"’\1"),
        # feet and minutes: 6 ' 0
        (r"(?<=\d) ' (?=\d)", "'"),
        # a lone apostrophe is a plural's possessive (the Yankees ' 27 titles) or closes a quotation
        (r" '(?=[\s.,;:!?)\]}]|$)", "'"),
        # currency and number signs; "A $ 5 million film" is no Australian dollar, so A is left out
        (r"\b(US|AU|CA|HK|NZ|NT|R|C|S) \$ ?(?=\d)", r"\1$"),
        (r"([$£€₹¥#]) (?=\d)", r"\1"),
    )
)


def detokenise(text: str) -> str:
    """Return normal text for text tokenised with spaces; whitespace is collapsed."""
    text = " ".join(text.split())
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
