"""Where the sentences of an English text begin and end (Punkt: Kiss & Strunk, 2006; the model ships as a package)."""

from __future__ import annotations

from functools import cache

import punkt


@cache
def _tokenizer() -> punkt.PunktSentenceTokenizer:
    # prefixes: "No. 3" and "approx. 5" end no sentence, which the learned model alone gets wrong
    return punkt.tokenizer_for("english", line_breaks="paragraph", prefixes=True)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) character offsets of the sentences, in order, without the whitespace around them.

    Together the spans hold every character of ``text`` that is not whitespace. A blank line always ends a
    sentence: Punkt alone would run a heading or a list into the next paragraph.
    """
    spans = []
    for start, end in _tokenizer().span_tokenize(text):
        piece = text[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        if start < end:
            spans.append((start, end))
    return spans
