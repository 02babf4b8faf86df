"""Where the sentences of a text begin and end.

Whether a full stop ends a sentence is Punkt's decision (Kiss & Strunk, 2006; the English model ships as a package).
Around it stand a few rules on what Punkt does not look at: a line break ends a sentence, since readers put list items
on lines of their own and unwrap paragraphs; closing quotes and brackets stay with the stop before them; the stops of
other scripts are those that Unicode calls sentence terminals (UAX 29, ``SB=STerm``). Where it is unclear, two sentences
stay one: a sentence too long costs less than a sentence cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

import punkt
import regex

_ABBREVIATIONS = frozenset("blvd bro ed eds fr messrs mt mts pres rd rev".split())
_BEFORE_NUMBERS = frozenset("al pop".split())  # "Smith et al. 2010", but "Smith et al. The others"
"""Abbreviations, small and without the stop, that neither the learned model nor its package's own list knows."""

_LINE = re.compile(r"[^\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
# a stop, what closes with it (quotes, brackets, marks of footnotes), and the next word, with what opens before it
_STOP = re.compile(r"""[.?!]((?:["')\]}’”»«]|\[\w{1,3}\])*)\s+(?=["'(\[{‘“«»]*(\S+))""")
_FOREIGN_STOP = regex.compile(
    r"""(?:[\p{SB=STerm}--[.?!]]|[?!](?=[\p{Ideo}\p{Hiragana}\p{Katakana}])|(?<=\p{Greek});(?=\s|$))++\p{M}*+
    (?:[\p{Pe}\p{Pf}"']++(?=\s|[\p{Ps}\p{Pi}]|$)|(?![\p{Pe}\p{Pf}"']))\s*""",  # 「はい。」と言った is one sentence
    regex.V1 | regex.VERBOSE,
)
_LIST_NUMBER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})\.")
_WORD = re.compile(r"\w")
_KNOWN = 100_000
_LONG = 60
"""Decisions kept, and the longest words for which they are: words repeat, odd ones are not worth the memory."""


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) character offsets of the sentences, in order, without the whitespace around them.

    Together the spans hold every character of ``text`` that is not whitespace. Time grows with the length of the text.
    """
    spans: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        start, end = line.span()
        first = len(spans)
        for cut in [*_cuts(line.group()), end - start]:
            stop = line.start() + cut
            piece = text[start:stop]
            left = start + len(piece) - len(piece.lstrip())
            right = start + len(piece.rstrip())
            if left < right:
                # marks without a word ("!!", an emoji) belong to the sentence before them
                if len(spans) > first and not _WORD.search(text, left, right):
                    left, _ = spans.pop()
                spans.append((left, right))
            start = stop
    return spans


def _cuts(line: str) -> list[int]:
    """Return where sentences begin within a line, rising."""
    cuts = list(_cuts_at_stops(line))
    if not line.isascii():
        cuts = sorted({*cuts, *(stop.end() for stop in _FOREIGN_STOP.finditer(line))})
    # the number of a list item is no sentence
    return cuts[1:] if cuts and _LIST_NUMBER.fullmatch(line[: cuts[0]].strip()) else cuts


def _cuts_at_stops(line: str) -> Iterator[int]:
    start = 0
    for stop in _STOP.finditer(line):
        following = stop[2]
        before = line[start : stop.start()].rsplit(None, 1)
        word = before[-1] if before else ""
        if not following.strip(".?!"):
            # a row of stops: the last one decides
            ends = False
        elif line[stop.start()] != ".":
            # "Yahoo! is", "'Who?' he asked"
            ends = not following[0].islower()
        elif not word.strip("."):
            # what follows a row of dots is told by its case
            ends = following[0].isupper()
        elif len(word) + len(following) <= _LONG:
            ends = _remembered(word, following)
        else:
            ends = _ends_sentence(word[-_LONG:], following[:_LONG])
        if ends:
            yield stop.end()
        start = stop.end()


def _ends_sentence(word: str, following: str) -> bool:
    """Return whether Punkt takes the full stop between two words for the end of a sentence."""
    words, parameters = _punkt()
    tokens = list(words.tokenize_annotated(f"{word}."))
    *_, last, _ = punkt.annotate_tokens([*tokens, next(words.tokenize_annotated(following))], parameters)
    return bool(last.sentbreak)


_remembered = lru_cache(_KNOWN)(_ends_sentence)


@cache
def _punkt() -> tuple[punkt.PunktWordTokenizer, punkt.PunktParameters]:
    # a copy, which may be added to
    parameters = punkt.with_nonbreaking_prefixes(punkt.load_model("english"), "english")
    parameters.abbrev_types |= _ABBREVIATIONS
    parameters.numeric_abbrev_types |= _BEFORE_NUMBERS
    return punkt.PunktWordTokenizer(), parameters
