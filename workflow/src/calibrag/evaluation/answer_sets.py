"""Answers that are sets, of a question with ``answer_kind`` set: right where all members are named and nothing else.

CRAG and R2C2, whose question types have such sets, grade an answer as one: CRAG's is right where it answers the
question and nothing in it is made up (Yang et al. 2024). A gap leaves the question unanswered and a stranger is made
up, so that either is wrong here; F1 gives the credit for parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from calibrag.evaluation.answers import normalise
from calibrag.normalisation import answer_key

_SEPARATOR = re.compile(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+", re.IGNORECASE)


def members(text: str, gold: Sequence[str], key: Callable[[str], str]) -> list[str]:
    """Return the members that a text names, separated by commas, semicolons or "and".

    A gold member that holds a separator itself ("Trinidad and Tobago") stays whole: of parts that follow each other,
    the longest stretch that is a gold member under ``key`` is one member. Empty parts are none.
    """
    known = {key(answer) for answer in gold}
    bounds, start = [], 0
    for separator in _SEPARATOR.finditer(text):
        bounds.append((start, separator.start()))
        start = separator.end()
    bounds.append((start, len(text)))
    bounds = [(left, right) for left, right in bounds if text[left:right].strip()]
    found, place = [], 0
    while place < len(bounds):
        stretches = [(bounds[place][0], right) for _, right in bounds[place:]]
        whole = [n for n, (left, right) in enumerate(stretches) if key(text[left:right]) in known]
        taken = whole[-1] if whole else 0
        found.append(text[slice(*stretches[taken])].strip())
        place += taken + 1
    return found


def exact_match(prediction: str | None, gold: Sequence[str]) -> int:
    """Return 1 if the prediction's members and the gold ones are equal as sets after `normalise`, else 0."""
    if prediction is None or not gold:
        return 0
    return int(_keys(prediction, gold, normalise) == {normalise(answer) for answer in gold})


def f1(prediction: str | None, gold: Sequence[str]) -> float:
    """Return the harmonic mean of the shares of its members that are gold, and of gold members that it names.

    Members meet under `answer_key`. 0 for a refusal and where they share none.
    """
    said = _keys(prediction, gold, answer_key) if prediction is not None else set()
    wanted = {answer_key(answer) for answer in gold}
    return 2 * len(said & wanted) / (len(said) + len(wanted)) if said & wanted else 0.0


def is_right(prediction: str | None, gold: Sequence[str]) -> bool:
    """Return whether the members are the gold ones, officially or under `answer_key`; a refusal is not right."""
    return f1(prediction, gold) == 1.0 or exact_match(prediction, gold) == 1


def _keys(text: str, gold: Sequence[str], key: Callable[[str], str]) -> set[str]:
    return {key(member) for member in members(text, gold, key)}
