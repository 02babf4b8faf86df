"""Our rankings in the measures of others who published theirs, over gold documents.

The measures are those of the file of means, under its names. With G the gold documents of a question and D_k the
first k documents of its ranking: Any Evidence Hit Rate@k is 1 if D_k holds one of G, Full Evidence Hit Rate@k is 1 if
it holds all, Evidence Recall@k is the share that it holds, and MRR@k is the reciprocal of the first rank that holds
one, 0 if none of the first k does. Each is a mean over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap
from calibrag.records import Question
from calibrag.retrieval.runs import Rankings

Found = np.ndarray
"""Whether each document of a ranking is gold, best rank first."""


def _any(found: Found, cutoff: int, gold: int) -> float:
    return float(found[:cutoff].any())


def _full(found: Found, cutoff: int, gold: int) -> float:
    return float(found[:cutoff].sum() == gold)


def _recall(found: Found, cutoff: int, gold: int) -> float:
    return float(found[:cutoff].sum() / gold)


def _reciprocal_rank(found: Found, cutoff: int, gold: int) -> float:
    return 1 / (1 + int(found[:cutoff].argmax())) if found[:cutoff].any() else 0.0


_MEASURES: Mapping[str, Callable[[Found, int, int], float]] = {
    "Any Evidence Hit Rate": _any,
    "Full Evidence Hit Rate": _full,
    "Evidence Recall": _recall,
    "MRR": _reciprocal_rank,
}
CUTOFFS = {"Any Evidence Hit Rate": (2, 5, 10), "Full Evidence Hit Rate": (2, 5, 10), "Evidence Recall": (5,),
           "MRR": (10, 50)}  # fmt: skip
MEASURES = [f"{name}@{cutoff}" for name, cutoffs in CUTOFFS.items() for cutoff in cutoffs]


def read_doc_ids(passages: str | Path) -> dict[str, str]:
    """Return passage id -> the document that it is of, from the passages on disk."""
    table = pq.read_table(passages, columns=["passage_id", "doc_id"])
    return dict(zip(table["passage_id"].to_pylist(), table["doc_id"].to_pylist(), strict=True))


def rank_documents(rankings: Rankings, doc_ids: Mapping[str, str]) -> Rankings:
    """Return rankings of documents: a document stands where its first passage stood.

    Parameters
    ----------
    doc_ids
        From `read_doc_ids`.
    """
    return {
        qid: list(dict.fromkeys(doc_ids[passage_id] for passage_id in passages)) for qid, passages in rankings.items()
    }


def score_documents(rankings: Rankings, gold: Mapping[str, Set[str]]) -> pd.DataFrame:
    """Return ``MEASURES`` of each question in ``gold``, which holds its gold documents; 0 where it is not ranked."""
    rows = []
    for qid, wanted in gold.items():
        found = np.array([doc_id in wanted for doc_id in rankings.get(qid, ())], dtype=bool)
        rows.append([_MEASURES[name](found, cutoff, len(wanted)) for name in CUTOFFS for cutoff in CUTOFFS[name]])
    return pd.DataFrame(rows, index=pd.Index(gold, name="qid"), columns=MEASURES)


def compare_published(
    name: str,
    theirs: Rankings,
    printed: pd.DataFrame,
    ours: Mapping[str, Rankings],
    asked: Sequence[Question],
    qids: Sequence[str],
    resampling: Mapping[str, int | float],
) -> pd.DataFrame:
    """Return one row a ranking: ranking, source, n, n_missing, then each of ``MEASURES`` with its interval.

    ``source`` is ``printed`` (their means as they stand), ``recomputed`` (from their ranking: on all of its questions,
    then on ours), ``ours``, or ``difference`` (ours less theirs on the same questions).

    Parameters
    ----------
    name
        Their name for the ranking.
    theirs, ours
        Rankings of documents.
    printed
        Their file of means: Method and the measures.
    asked
        All questions of the collection, with their support.
    qids
        The questions that we ranked.
    resampling
        The block ``bootstrap`` of the configuration.

    Raises
    ------
    CalibragError
        The file of means lacks the ranking or a measure, or their ranking has a question that nobody asked.
    """
    gold = {question.qid: {fact.doc_id for fact in question.support} for question in asked if question.support}
    if absent := [column for column in ("Method", *MEASURES) if column not in printed]:
        raise CalibragError(f"the published means lack the columns {absent}; they have {list(printed)}")
    if name not in set(printed["Method"]):
        raise CalibragError(f"the published means have no {name!r}; they have {', '.join(printed['Method'])}")
    if strange := sorted(set(theirs) - set(gold)):
        raise CalibragError(f"{name} ranks {len(strange)} questions without gold documents, such as {strange[0]}")
    shared = {qid: gold[qid] for qid in qids if qid in gold and qid in theirs}
    if not shared:
        raise CalibragError(f"{name} ranks none of the {len(qids)} questions")

    def row(ranking: str, source: str, values: pd.DataFrame, missing: int) -> dict:
        index = bootstrap.resamples(len(values), resampling["resamples"], resampling["seed"])
        cells: dict = {"ranking": ranking, "source": source, "n": len(values), "n_missing": missing}
        for measure in MEASURES:
            estimate = bootstrap.estimate(bootstrap.mean, index, resampling["level"], values[measure].to_numpy())
            cells |= {measure: estimate.value, f"{measure}_low": estimate.low, f"{measure}_high": estimate.high}
        return cells

    rows = [
        {"ranking": line["Method"], "source": "printed", "n": len(theirs), "n_missing": 0}
        | {measure: line[measure] for measure in MEASURES}
        for line in printed.to_dict("records")
    ]
    rows.append(row(name, "recomputed", score_documents(theirs, {qid: gold[qid] for qid in theirs}), 0))
    base = score_documents(theirs, shared)
    rows.append(row(name, "recomputed", base, 0))
    missing = {own: sum(not rankings.get(qid) for qid in shared) for own, rankings in ours.items()}
    scores = {own: score_documents(rankings, shared) for own, rankings in ours.items()}
    rows += [row(own, "ours", values, missing[own]) for own, values in scores.items()]
    rows += [row(f"{own} less {name}", "difference", values - base, missing[own]) for own, values in scores.items()]
    ends = [f"{measure}{end}" for measure in MEASURES for end in ("", "_low", "_high")]
    return pd.DataFrame(rows)[["ranking", "source", "n", "n_missing", *ends]]
