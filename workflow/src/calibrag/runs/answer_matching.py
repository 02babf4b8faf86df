"""Which answers entail each other, by the verifier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Protocol

from calibrag.normalisation import answer_key
from calibrag.records import Question
from calibrag.runs.same_answers import SameAnswers
from calibrag.trace import Trace
from calibrag.verification.claims import claim_text
from calibrag.verification.entailment import Entailment


class Verifier(Protocol):
    """What the entailment comes from, see `EntailmentVerifier`."""

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Return the entailment of each (premise, claim)."""
        ...


def match_answers(
    questions: Iterable[Question], traces: Mapping[str, Sequence[Trace]], verifier: Verifier, threshold: float
) -> list[SameAnswers]:
    """Return the answers that say the same in other words, question by question; those that equal no other are not in.

    "Optional equivalence by entailment in both directions" (spec/bitem section 5): question and answer as a claim, as
    in semantic entropy (Kuhn, Gal and Farquhar 2023). In the order of the submissions, an answer joins the first group
    whose first answer entails it and is entailed by it with at least ``threshold``, so that no chain of small steps
    makes two different answers one.
    """
    claims = {question.qid: _claims(question, traces.get(question.qid, ())) for question in questions}
    asked = [(qid, *pair) for qid, of in claims.items() for pair in permutations(of, 2)]
    found = verifier.entail([(claims[qid][one], claims[qid][other]) for qid, one, other in asked])
    entailed = {key for key, entailment in zip(asked, found, strict=True) if entailment.score >= threshold}
    same = []
    for qid, of in claims.items():
        groups: list[list[str]] = []
        for key in of:
            meets = (g for g in groups if {(qid, g[0], key), (qid, key, g[0])} <= entailed)
            group = next(meets, None)
            if group is None:
                groups.append([key])
            else:
                group.append(key)
        same += [SameAnswers(qid=qid, keys=group) for group in groups if len(group) > 1]
    return same


def _claims(question: Question, traces: Sequence[Trace]) -> dict[str, str]:
    """Return `answer_key` -> the claim of the first answer of that key, in the order of the submissions."""
    claims: dict[str, str] = {}
    for trace in traces:
        for submission in trace.submissions:
            if submission.text is not None:
                claims.setdefault(answer_key(submission.text), claim_text(question.text, submission.text))
    return claims
