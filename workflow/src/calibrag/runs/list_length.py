"""PG-1 and PG-2 at one length, to see how much of a gain is length (spec/bitem section 7, 3).

PG-1 is not padded, so that a first pass that found little files a short ranking, which PG-2 fills with the passages of
other passes. PG-2 is therefore cut to PG-1's length, and PG-1 padded to PG-2's by searching on for its own queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyterrier as pt

from calibrag.records import Hit, Record
from calibrag.retrieval.pipeline import search
from calibrag.retrieval.runs import Rankings
from calibrag.trace import SearchEvent, Trace


class DeeperSearch(Record):
    """What a query of a first pass finds further down, its own hits included."""

    qid: str
    query: str
    hits: list[Hit]


def deeper(retriever: Mapping[str, Any], filed: int) -> dict[str, Any]:
    """Return a retriever's settings with which each query finds twice as many passages as are filed.

    That is enough: fewer than ``filed`` of them stand in a short ranking already, and no more are wanted.

    Parameters
    ----------
    retriever
        The retriever's block of the resolved configuration; its depths are raised where they are smaller.
    """
    wanted = max(2 * filed, retriever["returned"])
    stages = ("lexical", "dense", "rerank")
    deepened = {stage: retriever[stage] and _at_least(retriever[stage], wanted) for stage in stages}
    return {**retriever, **deepened, "returned": wanted}


def _at_least(stage: Mapping[str, Any], depth: int) -> dict[str, Any]:
    return {**stage, "depth": max(stage["depth"], depth)}


def short(first: Rankings, second: Rankings) -> list[str]:
    """Return the questions for which the first run ranks fewer passages than the second."""
    return [qid for qid in second if len(first.get(qid, ())) < len(second[qid])]


def search_deeper(traces: Iterable[Trace], open_pipeline: Callable[[], pt.Transformer]) -> list[DeeperSearch]:
    """Return what the distinct queries of passes find further down, in their order.

    Parameters
    ----------
    traces
        Of the first passes of the questions that are short; searches leave out what they left out.
    open_pipeline
        Returns a retriever of the settings that `deeper` gives; not called where nothing was searched for.
    """
    wanted = {(trace.qid, query): trace.excluded for trace in traces for query in _queries(trace)}
    if not wanted:
        return []
    # one question may have several queries, and a pipeline wants a name for each
    named = {str(number): each for number, each in enumerate(wanted)}
    found = search(open_pipeline(), [(name, query, wanted[qid, query]) for name, (qid, query) in named.items()])
    return [DeeperSearch(qid=qid, query=query, hits=found[name]) for name, (qid, query) in named.items()]


def _queries(trace: Trace) -> list[str]:
    return [event.query for event in trace.events if isinstance(event, SearchEvent)]


def cut(second: Rankings, first: Rankings) -> Rankings:
    """Return the second run, each ranking cut to the length of the first's."""
    return {qid: ranking[: len(first.get(qid, ()))] for qid, ranking in second.items()}


def padded(first: Rankings, second: Rankings, searches: Iterable[DeeperSearch]) -> Rankings:
    """Return the first run, each short ranking padded to the length of the second's.

    What is put below comes by its best score over the question's queries, as in PG-1, ties in the order of ids. A
    ranking stays shorter where its searches find no more.
    """
    scores: dict[str, dict[str, float]] = {}
    for each in searches:
        best = scores.setdefault(each.qid, {})
        for hit in each.hits:
            best[hit.passage_id] = max(hit.score, best.get(hit.passage_id, hit.score))
    return {
        qid: _filled(first.get(qid, ()), scores.get(qid, {}), len(second.get(qid, ())))
        for qid in dict.fromkeys([*first, *second])
    }


def _filled(ranking: Sequence[str], scores: Mapping[str, float], length: int) -> list[str]:
    further = sorted(scores.keys() - set(ranking), key=lambda passage: (-scores[passage], passage))
    return [*ranking, *further[: max(0, length - len(ranking))]]


def at_one_length(first: Rankings, second: Rankings, searches: Iterable[DeeperSearch]) -> dict[str, Rankings]:
    """Return run -> rankings: both runs as they are filed, the second cut, the first padded."""
    return {
        "PG-1": first,
        "PG-2": second,
        "PG-2 cut": cut(second, first),
        "PG-1 padded": padded(first, second, searches),
    }
