"""Signals of agreement between passes, of confidence, and of the answer's own words.

Answers agree when ``normalisation.answer_key`` makes them one. They need nothing recorded but the answers.
"""

from __future__ import annotations

import math
from collections import Counter

from calibrag.confidence.signals.case import Case, Signal, signal
from calibrag.normalisation import answer_key, words
from calibrag.trace import ModelEvent, Trace

AGREES = "agrees_with_pass_"
"""Prefix of the signals of agreement with one pass."""


@signal("all passes", "passes")
def passes_run(case: Case) -> int:
    """Passes that ran to their end."""
    return len(_whole(case))


@signal("all passes", "passes", "more")
def agreeing_passes(case: Case) -> int:
    """Passes that ended with the filed answer as their own, fallbacks left out."""
    return sum(_agrees(case, trace) for trace in _whole(case))


@signal("all passes", "0 to 1", "more")
def agreeing_share(case: Case) -> float | None:
    """Share of the passes run to their end that ended with the filed answer as their own, fallbacks left out."""
    return agreeing_passes.value(case) / len(_whole(case)) if _whole(case) else None


@signal("all passes", "bits", "less")
def answer_entropy(case: Case) -> float | None:
    """Entropy of the answers that the passes ended with, refusals left out; missing without one."""
    counts = Counter(answer_key(trace.answer) for trace in _whole(case) if trace.answer is not None)
    shares = [count / counts.total() for count in counts.values()]
    return abs(sum(share * math.log2(share) for share in shares)) if shares else None


@signal("all passes", "passes", "less")
def refusals(case: Case) -> int:
    """Passes that ran to their end without an answer."""
    return sum(trace.answer is None for trace in _whole(case))


@signal("all passes", "passes", "less", {"gate"})
def fallbacks(case: Case) -> int:
    """Passes that ended with an earlier one's answer."""
    return sum(map(_fell_back, _whole(case)))


@signal("filing pass", "0 to 1", "more", {"confidence"})
def filed_confidence(case: Case) -> float | None:
    """Confidence of the filed answer in its pass."""
    return None if case.filed is None else case.filed.confidence


@signal("all passes", "sum of 0 to 1", "more", {"confidence"})
def summed_confidence(case: Case) -> float:
    """Confidence of the filed answer, summed over the passes that ended with it as their own."""
    return math.fsum(
        trace.confidence for trace in _whole(case) if _agrees(case, trace) and trace.confidence is not None
    )


@signal("filing pass", "0 to 1", "more")
def own_confidence(case: Case) -> float | None:
    """Share of the filed answer among the candidates that the model scored last; missing where it was none of them."""
    scored = [event for event in case.filing.events if isinstance(event, ModelEvent) and event.candidates]
    if not scored:
        return None
    shares = zip(scored[-1].candidates, scored[-1].probabilities, strict=True)
    same = [share for candidate, share in shares if answer_key(candidate) == case.key]
    return math.fsum(same) if same else None


@signal("answer", "0 to 1", "more")
def judged_confidence(case: Case) -> float | None:
    """Confidence of the model itself, asked again; missing where it was not, or for another answer."""
    judged = case.judged
    same = judged is not None and judged.answer is not None and answer_key(judged.answer) == case.key
    return judged.confidence if same else None


@signal("answer", "words")
def answer_words(case: Case) -> int:
    """Words of the filed answer."""
    return len(words(case.entry.answer))


@signal("answer", "words")
def question_words(case: Case) -> int:
    """Words of the question."""
    return len(words(case.question))


def agrees_with_pass(number: int) -> Signal:
    """Return the signal of agreement with one pass, such as ``agrees_with_pass_1``."""

    def value(case: Case) -> bool | None:
        passes = [trace for trace in _whole(case) if trace.pass_number == number]
        return _agrees(case, passes[0]) if passes else None

    measures = f"Whether pass {number} ended with the filed answer as its own; missing where it did not run to its end."
    return Signal(f"{AGREES}{number}", measures, "0 or 1", "more", frozenset(), "all passes", value)


def _whole(case: Case) -> list[Trace]:
    return [trace for trace in case.ran if trace.status == "ok"]


def _agrees(case: Case, trace: Trace) -> bool:
    """Return whether a pass ended with the filed answer; a fallback repeats another pass, and agrees with none."""
    return trace.answer is not None and not _fell_back(trace) and answer_key(trace.answer) == case.key


def _fell_back(trace: Trace) -> bool:
    return bool(trace.submissions) and trace.submissions[-1].origin == "fallback"


SIGNALS = (
    passes_run, agreeing_passes, agreeing_share, answer_entropy, refusals, fallbacks, filed_confidence,
    summed_confidence, own_confidence, judged_confidence, answer_words, question_words,
)  # fmt: skip
