"""Passage runs: the ranked passages of a question, taken from the traces of its passes (spec/bitem section 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from calibrag.records import Hit
from calibrag.runs.same_answers import Same, by_words
from calibrag.trace import Trace


def first_pass(traces: Sequence[Trace], length: int, same: Same = by_words) -> list[Hit]:
    """PG-1: "first pass; evidence-bearing passages by entailment strength, then its other retrieved passages by best
    retrieval score; cut at 20; not padded."

    20 is ``length``. Evidence is a verified nugget that was not retracted.
    """
    return _ranking(traces[:1], length)


def strongest_group(traces: Sequence[Trace], length: int, same: Same = by_words) -> list[Hit]:
    """PG-2: "group the passes' answers by normalised answer; take the group with the strongest pass confidence, then
    the most passes, then the largest summed confidence, then the earliest; pool the passages of its passes; order as
    PG-1."

    A fallback is no pass of its own. Where no pass has an answer, all passes that ran are pooled.
    """
    groups: dict[str, list[Trace]] = {}
    for trace in traces:
        if trace.answer is not None:
            groups.setdefault(same(trace.qid, trace.answer), []).append(trace)
    # max keeps the first of equals: the group whose first pass is earliest
    return _ranking(max(groups.values(), key=_strength, default=traces), length)


def _strength(group: Sequence[Trace]) -> tuple[float, int, float]:
    confidences = [trace.confidence or 0.0 for trace in group]
    own = sum(trace.submissions[-1].origin == "own" for trace in group)
    return max(confidences), own, sum(confidences)


def _ranking(traces: Iterable[Trace], length: int) -> list[Hit]:
    """Return the pooled passages, those with verified evidence first; the score falls by one a rank.

    Entailment and retrieval scores do not share a scale, so that the file's score states the order only.
    """
    entailment: dict[str, float] = {}
    retrieved: dict[str, float] = {}
    for trace in traces:
        for nugget in trace.nuggets:
            if nugget.verified and not nugget.retracted:
                entailment[nugget.passage_id] = max(nugget.entailment, entailment.get(nugget.passage_id, 0.0))
        for passage_id, score in trace.retrieved.items():
            retrieved[passage_id] = max(score, retrieved.get(passage_id, score))
    evidence = sorted(entailment, key=lambda p: (-entailment[p], p))
    others = sorted(retrieved.keys() - entailment.keys(), key=lambda p: (-retrieved[p], p))
    ranked = (evidence + others)[:length]
    return [Hit(passage_id=p, rank=rank, score=float(len(ranked) + 1 - rank)) for rank, p in enumerate(ranked, 1)]


PASSAGE_RUNS: dict[str, Callable[[Sequence[Trace], int, Same], list[Hit]]] = {
    "PG-1": first_pass,
    "PG-2": strongest_group,
}
"""Name -> rule; each takes the traces of one question in pass order, the length to cut at, and what answers say."""
