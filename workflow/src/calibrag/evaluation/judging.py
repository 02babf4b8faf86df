"""An answer against a question's gold answers, whatever kind of answer the question wants."""

from __future__ import annotations

from typing import NamedTuple

from calibrag.evaluation import answer_sets, answers
from calibrag.records import Question


class Judgement(NamedTuple):
    """Whether an answer matches the gold answers, and its official exact match (0 or 1) and F1 in [0, 1]."""

    right: bool
    em: int
    f1: float


def judge(answer: str | None, question: Question) -> Judgement:
    """Return the judgement of an answer: one of the gold answers, or of a question that wants a set all of them.

    Of single answers see `answers`, of sets `answer_sets`. Where the corpus holds no support every answer is wrong. A
    refusal, None, is never right here: that it is the right thing without support is for the measures.
    """
    gold = question.answers if question.supported else []
    by = answer_sets if question.answer_kind == "set" else answers
    return Judgement(by.is_right(answer, gold), by.exact_match(answer, gold), by.f1(answer, gold))
