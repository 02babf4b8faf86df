"""The words of a passage and of names, so that one can be looked up in the other quickly."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

_TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_ENDS = frozenset(".!?")
_CLOSING = frozenset("\"”'’)]")
_INITIAL = re.compile(r"[A-Z]|Jr|Sr|St|Mr|Mrs|Ms|Dr|vs|No|Mt|Prof|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep")


class Words:
    """The words and marks of a text.

    Attributes
    ----------
    tokens
        As they stand; a hyphenated word is one, every mark of its own.
    folded
        The same, case folded.
    """

    def __init__(self, text: str):
        self.tokens: list[str] = _TOKEN.findall(text)
        self.folded: list[str] = [token.casefold() for token in self.tokens]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Folded word -> the places where it stands."""
        places: dict[str, list[int]] = {}
        for place, token in enumerate(self.folded):
            places.setdefault(token, []).append(place)
        return places

    def find(self, name: tuple[str, ...]) -> list[int]:
        """Return the places where a name, see `folded_name`, starts."""
        if not name:
            return []
        length = len(name)
        return [place for place in self.places.get(name[0], ()) if tuple(self.folded[place : place + length]) == name]

    def starts_sentence(self, place: int) -> bool:
        """Return whether a sentence starts at a place."""
        before = place - 1
        while before >= 0 and self.tokens[before] in _CLOSING:
            before -= 1
        if before < 0:
            return True
        return self.tokens[before] in _ENDS and not _INITIAL.fullmatch(self.tokens[before - 1])


@lru_cache(maxsize=50_000)
def name_tokens(name: str) -> tuple[str, ...]:
    """Return the words and marks of a name as they stand."""
    return tuple(_TOKEN.findall(name))


@lru_cache(maxsize=50_000)
def folded_name(name: str) -> tuple[str, ...]:
    """Return the words and marks of a name, case folded."""
    return tuple(token.casefold() for token in name_tokens(name))
