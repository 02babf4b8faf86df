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
import pyterrier as pt

from calibrag.errors import ConfigError
from calibrag.retrieval.runs import Qrels, Rankings

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
    qrels: Qrels, runs: Mapping[str, Rankings], measures: Sequence[str], qids: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return each question's values by `pt.Experiment`, and the questions that have no relevant passage at all.

    Parameters
    ----------
    runs
        Name -> run. A question that a run lacks scores 0.
    measures
        Names that `parse_measure` knows.
    qids
        The questions to score, in the order wanted; others in a run are left aside.

    Returns
    -------
    values
        Columns run, qid and one a measure; one row a run and question, in the order given. Values are NaN for a
        question without a relevant passage, where no ranking could score: see `passage_runs` for how a mean treats it.
    no_relevant
        Those questions, in the order of `qids`.
    """
    parsed = [parse_measure(name) for name in measures]
    barren = [qid for qid in qids if not any(grade > 0 for grade in qrels.get(qid, {}).values())]
    scored = [qid for qid in qids if qid not in set(barren)]
    # no qid, or no row of a ranking, is an error to pt.Experiment
    found = {name: frame for name, run in runs.items() if len(frame := _ranking(run, scored))}
    rows = pd.MultiIndex.from_product([list(runs), qids], names=["run", "qid"])
    values = pd.DataFrame(0.0, index=rows, columns=list(measures))
    if found:
        experiment = pt.Experiment(
            {name: pt.Transformer.from_df(frame) for name, frame in found.items()},
            topics=pd.DataFrame({"qid": scored}),
            qrels=pd.DataFrame(
                [(qid, passage_id, grade) for qid in scored for passage_id, grade in qrels[qid].items()],
                columns=["qid", "docno", "label"],
            ),
            eval_metrics=parsed,
            perquery=True,
            # what from_df returns cannot be inspected
            validate="ignore",
        )
        by_measure = experiment.pivot(index=["name", "qid"], columns="measure", values="value")
        values.update(by_measure.rename(columns=dict(zip(map(str, parsed), measures, strict=True))))
    values.loc[values.index.isin(barren, level="qid")] = np.nan
    return values.reset_index(), barren


def _ranking(run: Rankings, qids: Sequence[str]) -> pd.DataFrame:
    """Return PyTerrier's frame of a run. Scores fall with the rank, so that ties keep the order that was filed."""
    return pd.DataFrame(
        [(qid, docno, -rank, rank) for qid in qids for rank, docno in enumerate(run.get(qid, ()))],
        columns=["qid", "docno", "score", "rank"],
    )
