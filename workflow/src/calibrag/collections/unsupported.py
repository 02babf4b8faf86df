"""Questions to which refusing is right: which of a collection's lose the documents that support them.

A document goes only with all questions that it supports, so that no question that stays loses any of its support.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from calibrag.collections.splitting import draw_order
from calibrag.records import Question


class Removal(NamedTuple):
    """What is taken out.

    Parameters
    ----------
    questions
        Ids of the questions that lose their support.
    documents
        Ids of the documents that go: all that support these questions.
    wanted
        How many questions the share comes to; fewer are chosen where questions that share documents do not fit in.
    """

    questions: frozenset[str]
    documents: frozenset[str]
    wanted: int

    def mark(self, question: Question) -> Question:
        """Return the question, as unsupported and without support where it lost it; its answers stay."""
        if question.qid not in self.questions:
            return question
        return msgspec.structs.replace(question, supported=False, support=[])

    def __str__(self) -> str:
        if not self.questions:
            return "no document left out"
        found = f"{len(self.questions)} questions lose their support ({self.wanted} wanted)"
        return f"{found}, {len(self.documents)} documents left out"


NOTHING = Removal(frozenset(), frozenset(), 0)
"""Nothing is taken out."""


def choose(questions: Sequence[Question], share: float, seed: int) -> Removal:
    """Return a random choice of questions that lose their support, fixed by the seed, whatever their order.

    Questions that share a document, directly or through others, are chosen together or not at all. Such groups are
    drawn, and each is taken that still fits into the share; so fewer may be chosen, never more. Questions that name no
    support, or were unsupported before, count in the share's basis and are never chosen.

    Parameters
    ----------
    questions
        Those that are evaluated.
    share
        Of them, above 0 and below 1; the number is rounded, half up.

    Raises
    ------
    ValueError
        No question can be chosen.
    """
    wanted = math.floor(len(questions) * share + 0.5)
    support = {q.qid: frozenset(fact.doc_id for fact in q.support) for q in questions if q.supported and q.support}
    chosen: set[str] = set()
    seen: set[str] = set()
    for qid in draw_order(support, seed):
        if qid in seen:
            continue
        group = _sharing(qid, support)
        seen |= group
        if len(chosen) + len(group) <= wanted:
            chosen |= group
    if not chosen:
        raise ValueError(
            f"no group of questions that share documents has {wanted} questions or fewer, the share of "
            f"{len(questions)} that should lose their support; raise unsupported.share, or set unsupported to null"
        )
    return Removal(frozenset(chosen), frozenset().union(*(support[qid] for qid in chosen)), wanted)


def _sharing(qid: str, support: dict[str, frozenset[str]]) -> set[str]:
    """Return the question and all that share a document with it, directly or through others."""
    group, documents = {qid}, set(support[qid])
    while found := {other for other, names in support.items() if other not in group and names & documents}:
        group |= found
        documents |= {name for other in found for name in support[other]}
    return group
