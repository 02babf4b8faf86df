"""Measures of rankings a question, named as ir-measures names them, with Sakai's Q-measure added.

nDCG takes the grade as gain and 1/log2(rank+1) as discount. Unjudged passages count as not relevant.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import ir_measures
import numpy as np
import pandas as pd

from calibrag.errors import ConfigError

Measure = ir_measures.Measure


def q_measure(gains: Sequence[float], judged: Sequence[float], cutoff: int | None) -> float:
    """Return Q@k with beta 1, in [0, 1].

    Q@k = (1 / min(k, R)) x sum over relevant ranks r <= k of (C(r) + cg(r)) / (r + cg*(r)), where C counts the
    relevant passages down to r, cg cumulates their gains, and cg* those of the ideal ranking (Sakai).

    Parameters
    ----------
    gains
        Gain of each ranked passage, best rank first; 0 where it is unjudged.
    judged
        Gains of all judged passages of the question, in any order.
    cutoff
        k; None takes the whole ranking.
    """
    ideal = np.sort([gain for gain in judged if gain > 0])[::-1]
    if len(ideal) == 0:
        return 0.0
    gain = np.asarray(gains[:cutoff], dtype=float)
    if len(gain) == 0:
        return 0.0
    relevant = gain > 0
    rank = np.arange(1, len(gain) + 1)
    best = np.cumsum(np.pad(ideal, (0, len(gain)))[: len(gain)])
    blended = (np.cumsum(relevant) + np.cumsum(gain)) / (rank + best)
    return float(blended[relevant].sum() / min(len(ideal), cutoff or len(ideal)))


class _QMeasure(Measure):
    """Q@k for ir-measures; its runtime provider takes whatever measure has a `runtime_impl`.

    `ir_measures.define_byquery` would not do: it cuts the ranking and keeps k from the function, which needs k
    where a ranking is shorter than k or R is larger.
    """

    NAME = __name__ = "Q"
    PRETTY_NAME = "Q-measure"
    SHORT_DESC = "Average precision with a blended ratio of precision and cumulated gain, beta 1."
    SUPPORTED_PARAMS: ClassVar = {
        "cutoff": ir_measures.ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold")
    }
    RUN_INPUTS: ClassVar = ["query_id", "doc_id", "score"]
    QREL_INPUTS: ClassVar = ["query_id", "doc_id", "relevance"]

    def runtime_impl(self, qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[ir_measures.Metric]:
        """Yield the value of each question that the run, sorted by score, ranks passages for."""
        grades = {qid: dict(zip(of["doc_id"], of["relevance"], strict=True)) for qid, of in qrels.groupby("query_id")}
        for qid, ranked in run.groupby("query_id", sort=False)["doc_id"]:
            judged = grades.get(qid, {})
            gains = [judged.get(doc_id, 0) for doc_id in ranked]
            yield ir_measures.Metric(qid, self, q_measure(gains, list(judged.values()), self.params.get("cutoff")))


if "Q" not in ir_measures.measures.registry:
    ir_measures.measures.register(_QMeasure())


def parse_measure(name: str) -> Measure:
    """Return the measure of this name, such as ``nDCG@20``, ``R@20`` or ``Q@20``; ``str`` gives the name back.

    Raises
    ------
    ConfigError
        No such measure, or one whose settings it does not know.
    """
    known = sorted(ir_measures.measures.registry)
    try:
        measure = ir_measures.parse_measure(name)
        measure.validate_params()
    except NameError:
        near = difflib.get_close_matches(re.split(r"[@(]", name)[0], known, n=1)
        hint = f"; did you mean {near[0]!r}" if near else ""
        raise ConfigError("measures", f"no measure is called {name!r}{hint}; known are {', '.join(known)}") from None
    except (ValueError, AssertionError, KeyError) as error:
        raise ConfigError("measures", f"{name!r} is no measure, such as 'nDCG@20' ({error})") from None
    return measure


def per_question(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Sequence[str]],
    measures: Sequence[str],
    qids: Sequence[str],
) -> tuple[pd.DataFrame, list[str]]:
    """Return each question's values, and the questions that have no relevant passage at all.

    Parameters
    ----------
    qrels
        qid -> passage id -> grade >= 0.
    run
        qid -> passage ids, best first. A question that it lacks scores 0.
    measures
        Names that `parse_measure` knows.
    qids
        The questions to score, in the order wanted; others in the run are left aside.

    Returns
    -------
    values
        Columns qid, measure, value; one row a question and measure. The value is NaN for a question without a
        relevant passage, where no ranking could score: see `passage_runs` for how a mean treats it.
    no_relevant
        Those questions, in the order of `qids`.
    """
    parsed = {parse_measure(name): name for name in measures}
    no_relevant = [qid for qid in qids if not any(grade > 0 for grade in qrels.get(qid, {}).values())]
    scored = [qid for qid in qids if qid not in set(no_relevant)]
    # a score that falls with the rank keeps the order that the run filed, ties included
    ranked = {qid: {doc: -rank for rank, doc in enumerate(run[qid], 1)} for qid in scored if run.get(qid)}
    values = dict.fromkeys(((qid, name) for qid in scored for name in parsed.values()), 0.0)
    if ranked:
        judged = {qid: dict(qrels[qid]) for qid in scored}
        for metric in ir_measures.iter_calc(list(parsed), judged, ranked):
            values[metric.query_id, parsed[metric.measure]] = float(metric.value)
    rows = [(qid, name, values.get((qid, name))) for qid in qids for name in measures]
    frame = pd.DataFrame(rows, columns=["qid", "measure", "value"])
    return frame.astype({"value": float}), no_relevant
