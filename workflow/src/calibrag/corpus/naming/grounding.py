"""Is a name that a model gives spelled out in a text?"""

from __future__ import annotations

import re
import unicodedata

from calibrag.corpus.annotation import clean_name

_WORD = re.compile(r"\w+")


class Spelling:
    """The words of a text, in which names are looked up without regard to case, punctuation and Unicode form."""

    def __init__(self, text: str):
        self._text = unicodedata.normalize("NFKC", text)
        self._places = [match.span() for match in _WORD.finditer(self._text)]
        self._line = " ".join(["", *(self._text[start:end].casefold() for start, end in self._places), ""])

    def find(self, name: str) -> tuple[int, str] | None:
        """Return where a name first stands, counted in words from 0, and how the text spells it; None where nowhere.

        A name stands where its words stand in a row; a name without words stands nowhere.
        """
        words = [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", name))]
        at = self._line.find(" ".join(["", *words, ""])) if words else -1
        if at < 0:
            return None
        first = self._line.count(" ", 0, at)
        start, end = self._places[first][0], self._places[first + len(words) - 1][1]
        # behind the last word may stand what belongs to the name: "Sammy Davis Jr."
        spelled = clean_name(self._text[start : end + 1])
        # what runs over a cell's border is no name
        return (first, spelled) if spelled and "|" not in spelled else None
