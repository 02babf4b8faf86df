"""Whether a quoted span stands in a passage, whatever happened to its spaces, case and punctuation."""

from __future__ import annotations

import re
import unicodedata

# "12,000" and "12000" are one number
_THOUSANDS = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_GAP = "\0"


def stands_in(quote: str, text: str) -> bool:
    """Return whether the quote's letters and digits stand in the text, in order, from word start to word end.

    Compared after NFKC and case folding, without whitespace and punctuation: ``well-known`` is ``well known``,
    a word hyphenated at a line's end is whole, and a table's cell bars do not count. Between two digits a gap
    does count: ``1.5`` is not ``15``, though ``2007-2008`` is ``2007–2008``. A quote without a letter or digit
    stands nowhere.
    """
    wanted, _ = _stream(quote)
    if not wanted:
        return False
    held, borders = _stream(text)
    start = held.find(wanted)
    while start >= 0:
        if start in borders and start + len(wanted) in borders:
            return True
        start = held.find(wanted, start + 1)
    return False


def _stream(text: str) -> tuple[str, set[int]]:
    """Return letters and digits without what lies between, and the places where a word starts or ends."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    folded = _THOUSANDS.sub("", folded)
    out: list[str] = []
    borders = {0}
    apart = True
    for character in folded:
        category = unicodedata.category(character)
        if category == "Cf":  # soft hyphens, zero-width spaces, direction marks: invisible
            continue
        if category[0] not in "LNM":
            apart = True
            continue
        if apart and out:
            borders.add(len(out))
            if category == "Nd" and out[-1].isdigit():
                out.append(_GAP)
                borders.add(len(out))
        elif out and "Lo" in (category, unicodedata.category(out[-1])):
            borders.add(len(out))  # scripts that write no spaces between words
        out.append(character)
        apart = False
    borders.add(len(out))
    return "".join(out), borders
