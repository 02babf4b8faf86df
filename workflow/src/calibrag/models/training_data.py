"""Labelled pairs of texts that the adapters learn from, and how questions and claims become such pairs.

A reranker's pair is (question, passage), ``relevant`` or ``other``; a verifier's is (premise, claim),
``entails``, ``neutral`` or ``contradicts``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from calibrag.records import Record

RELEVANT, OTHER = "relevant", "other"
ENTAILS, NEUTRAL, CONTRADICTS = "entails", "neutral", "contradicts"

_NUMBER = re.compile(r"\d[\d,.\-–:/]*\d|\d")
_NAME = re.compile(r"[A-Z][\w.'’\-]*(?: (?:(?:of|the|de|la|von|van|and|&) )?[A-Z][\w.'’\-]*)*")
_DATE = re.compile(
    r"(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: \d{1,2},?)?(?: \d{4})?"
)
_SENTENCE_WORDS = frozenset(
    "The A An It He She They His Her Their In On At As By For From This These That Its After Before During While"
    " When Although However And But Since With Also There".split()
)


class Pair(Record):
    """A labelled pair; ``group`` is the question or claim that it belongs to, and never spans two files."""

    group: str
    source: str
    first: str
    second: str
    label: str


def relevance_pairs(
    group: str, source: str, question: str, gold: Sequence[str], others: Sequence[str], limit: int
) -> Iterator[Pair]:
    """Yield the gold passages as relevant, and the first ``limit`` others that are not gold themselves."""
    for passage in dict.fromkeys(gold):
        yield Pair(group=group, source=source, first=question, second=passage, label=RELEVANT)
    for passage in [other for other in dict.fromkeys(others) if other not in set(gold)][:limit]:
        yield Pair(group=group, source=source, first=question, second=passage, label=OTHER)


def answer_pairs(
    group: str,
    source: str,
    question: str,
    answers: Sequence[str],
    gold: Sequence[str],
    others: Sequence[str],
    claim: Callable[[str, str], str],
    chance: random.Random,
    wrong: int,
    unrelated: int,
) -> Iterator[Pair]:
    """Yield claims about the answer of a question, each with a passage that supports it, denies it or is silent.

    Parameters
    ----------
    answers
        Right answers; the first is the one claimed.
    gold
        Passages that support the question. One that holds an answer entails the right claim and contradicts
        ``wrong`` claims made of other names or numbers in it; one without is neutral to the right claim.
    others
        Passages that do not support it: the right claim and one made of their own words are neutral to
        ``unrelated`` of them.
    claim
        From question and answer to the claim.

    Yields nothing where the answer is yes or no: a single passage seldom decides that.
    """
    if answers[0].strip().lower() in ("yes", "no"):
        return

    def pair(premise: str, answer: str, label: str) -> Pair:
        return Pair(group=group, source=source, first=premise, second=claim(question, answer), label=label)

    silent = []
    for passage in dict.fromkeys(gold):
        found = [answer for answer in answers if holds(passage, answer)]
        if not found:
            silent.append(passage)
            continue
        yield pair(passage, found[0], ENTAILS)
        for candidate in candidates(passage, answers, question, chance)[:wrong]:
            yield pair(passage, candidate, CONTRADICTS)
    if silent:
        yield pair(chance.choice(silent), answers[0], NEUTRAL)
    elsewhere = [other for other in dict.fromkeys(others) if not any(holds(other, answer) for answer in answers)]
    for number, passage in enumerate(elsewhere[:unrelated]):
        own = candidates(passage, answers, question, chance)
        yield pair(passage, own[0] if own and number % 2 else answers[0], NEUTRAL)


def candidates(passage: str, answers: Sequence[str], question: str, chance: random.Random) -> list[str]:
    """Return names or numbers of a passage that might be taken for the answer, in random order, its like first.

    What stands in the question, or shares words with an answer, is left out.
    """
    numbers = _DATE.findall(passage) + _NUMBER.findall(passage)
    names = [" ".join(_trimmed(name)) for name in _NAME.findall(passage)]
    like, unlike = (numbers, names) if any(character.isdigit() for character in answers[0]) else (names, numbers)
    taken = {word for answer in answers for word in words(answer)}
    asked = " ".join(words(question))
    out = []
    for group in (like, unlike):
        fit = sorted(
            {
                text.strip(" .,")
                for text in group
                if words(text) and not taken & set(words(text)) and " ".join(words(text)) not in asked
            }
        )
        chance.shuffle(fit)
        out += fit
    return out


def holds(passage: str, answer: str) -> bool:
    """Return whether the words of the answer stand in the passage, in order."""
    wanted = " ".join(words(answer))
    return bool(wanted) and f" {wanted} " in f" {' '.join(words(passage))} "


def words(text: str) -> list[str]:
    """Return the words of a text, lower case, without punctuation."""
    return re.findall(r"\w+", text.lower())


def balanced(pairs: Iterable[Pair], ceiling: dict[str, int], chance: random.Random) -> list[Pair]:
    """Return the pairs with at most ``ceiling[label]`` of each label named there, chosen at random, order kept."""
    pairs = list(pairs)
    kept = set(range(len(pairs)))
    for label, most in ceiling.items():
        places = [place for place, pair in enumerate(pairs) if pair.label == label]
        kept -= set(places) - set(chance.sample(places, min(most, len(places))))
    return [pairs[place] for place in sorted(kept)]


def _trimmed(name: str) -> list[str]:
    parts = name.split()
    while parts and parts[0] in _SENTENCE_WORDS:
        parts = parts[1:]
    return parts
