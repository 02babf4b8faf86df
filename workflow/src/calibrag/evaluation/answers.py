"""Answers against gold answers: the official HotpotQA scores, and the key that groups equal answers.

Two normalisations live here and are not the same. `normalise` is HotpotQA's own, kept to the letter so that
exact match and F1 compare with published numbers. `answer_key` decides whether two submissions say the same.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from text_to_num import alpha2digit

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)")
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# bounded, so that the product is exact
_SCALED = re.compile(r"(?<![\w.])(\d{1,15}(?:\.\d{1,6})?) (" + "|".join(_SCALES) + r")\b")
_CLOSING_UP = frozenset("'‘’`.")


def normalise(text: str) -> str:
    """Return the text in the official HotpotQA normalisation.

    Lower case, ASCII punctuation deleted, articles deleted, spaces collapsed (``hotpot_evaluate_v1.py``).
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str | None, answers: Sequence[str]) -> int:
    """Return 1 if the prediction equals a gold answer after `normalise`, else 0; None, a refusal, gets 0."""
    if prediction is None:
        return 0
    said = normalise(prediction)
    return int(any(said == normalise(answer) for answer in answers))


def f1(prediction: str | None, answers: Sequence[str]) -> float:
    """Return the best token F1 in [0, 1] over the gold answers.

    As the official script: where either side is ``yes``, ``no`` or ``noanswer`` and the other differs, the
    score is 0. None, a refusal, gets 0.
    """
    if prediction is None:
        return 0.0
    return max((_f1(normalise(prediction), normalise(answer)) for answer in answers), default=0.0)


def _f1(said: str, gold: str) -> float:
    if said != gold and (said in _CLOSED or gold in _CLOSED):
        return 0.0
    said_tokens, gold_tokens = said.split(), gold.split()
    common = sum((Counter(said_tokens) & Counter(gold_tokens)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(said_tokens), common / len(gold_tokens)
    return 2 * precision * recall / (precision + recall)


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


def is_right(prediction: str | None, answers: Sequence[str]) -> bool:
    """Return whether a gold answer matches the prediction officially or under `answer_key`; a refusal does not.

    Either suffices: the official match is what others report, and the key forgives what it cannot
    ("two" for "2", "1,200" for "1200", curly quotes).
    """
    if prediction is None or not prediction.strip():
        return False
    # officially "the" and "a" are equal, both being empty
    if normalise(prediction) and exact_match(prediction, answers):
        return True
    key = answer_key(prediction)
    return any(key == answer_key(answer) for answer in answers)
