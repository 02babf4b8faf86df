"""Answers against gold answers: the official HotpotQA scores, and whether an answer is right.

`normalise` is HotpotQA's own, kept to the letter so that exact match and F1 compare with published numbers; it is not
`calibrag.normalisation.answer_key`, which decides whether two submissions say the same.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from calibrag.normalisation import answer_key

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})


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
