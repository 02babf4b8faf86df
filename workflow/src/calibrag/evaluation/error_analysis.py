"""Error analysis: what went before each answer of a run, right or wrong (spec/bitem section 7, 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from calibrag.evaluation.labels import Right
from calibrag.normalisation import answer_key
from calibrag.records import Question
from calibrag.retrieval.runs import Qrels
from calibrag.trace import EntitySearchEvent, RunEntry, SearchEvent, Trace

OUTCOMES = ("right", "wrong", "refused", "missing")

COLUMNS = [
    "qid", "type", "answer", "outcome", "filing_pass", "passes_run", "failed_passes", "needed", "found_by_filing_pass",
    "found_by_any_pass", "right_in_another_pass", "right_turned_back", "turned_back_counted",
]  # fmt: skip
"""Columns of the error analysis."""


def analyse_errors(
    entries: Iterable[RunEntry],
    questions: Sequence[Question],
    traces: Mapping[str, Sequence[Trace]],
    qrels: Qrels,
    right: Right,
) -> pd.DataFrame:
    """Return one row a question asked, in their order, with the columns `COLUMNS`.

    ``outcome`` is one of `OUTCOMES`; a refusal is right where the question has no support, and else ``refused``. Of
    the passages that the question needs (``needed``, those with a grade above 0), the filing pass found as many as
    ``found_by_filing_pass`` says, and all passes together ``found_by_any_pass``; None where nothing was judged, or the
    traces do not hold what searches found. ``right_in_another_pass``: a pass other than the filing one submitted a
    right answer; None where no other ran. ``right_turned_back``: a right answer was turned back in some pass.
    ``turned_back_counted``: the filed answer had been turned back in some pass, so that such a submission was counted
    for it; these two are None where the traces do not hold what was turned back, or there is no answer.

    Parameters
    ----------
    entries
        Of the studied run.
    traces
        qid -> its passes; a question may lack them all.
    qrels
        {} for an import, of whose passages nothing is known.
    right
        Whether an answer is right.
    """
    filed = {entry.qid: entry for entry in entries}
    rows = [
        _row(question, filed.get(question.qid), traces.get(question.qid, ()), qrels.get(question.qid, {}), right)
        for question in questions
    ]
    return pd.DataFrame(rows, columns=COLUMNS, dtype=object)


def _row(
    question: Question, entry: RunEntry | None, passes: Sequence[Trace], grades: Mapping[str, int], right: Right
) -> dict[str, Any]:
    ran = [trace for trace in passes if trace.status != "skipped"]
    filing = [trace for trace in ran if entry is not None and trace.pass_number == entry.pass_number]
    needed = {passage_id for passage_id, grade in grades.items() if grade > 0}
    others = [trace for trace in ran if trace not in filing]
    gated = all(trace.holds("gate") for trace in ran)
    turned_back = [text for trace in ran for text in _submitted(trace, turned_back=True)] if gated else None
    key = answer_key(entry.answer) if entry is not None and entry.answer is not None else None
    known = turned_back is not None
    return {
        "qid": question.qid,
        "type": question.type,
        "answer": entry.answer if entry is not None else None,
        "outcome": _outcome(question, entry, right),
        "filing_pass": filing[0].pass_number if filing else None,
        "passes_run": len(ran),
        "failed_passes": sum(trace.status == "error" for trace in ran),
        "needed": len(needed) or None,
        "found_by_filing_pass": _found(needed, filing),
        "found_by_any_pass": _found(needed, ran),
        "right_in_another_pass": any(right(question.qid, text) for trace in others for text in _submitted(trace))
        if others
        else None,
        "right_turned_back": any(right(question.qid, text) for text in turned_back) if known else None,
        "turned_back_counted": key in map(answer_key, turned_back) if known and key is not None else None,
    }


def _outcome(question: Question, entry: RunEntry | None, right: Right) -> str:
    if entry is None:
        return "missing"
    if entry.answer is None:
        return "refused" if question.supported else "right"
    return "right" if right(question.qid, entry.answer) else "wrong"


def _found(needed: set[str], passes: Sequence[Trace]) -> int | None:
    """Return how many of the needed passages the passes saw; None where that is not known."""
    if not needed or not passes or not all(trace.holds("hits") for trace in passes):
        return None
    return len(needed & set().union(*map(_seen, passes)))


def _seen(trace: Trace) -> set[str]:
    """Return the passages that a pass met: ranked by a search, carrying a name searched for, or beside a hit."""
    seen = set(trace.retrieved)
    for event in trace.events:
        if isinstance(event, EntitySearchEvent):
            seen.update(hit.passage_id for hit in event.hits)
        elif isinstance(event, SearchEvent):
            seen.update(passage_id for beside in event.neighbours.values() for passage_id in beside)
    return seen


def _submitted(trace: Trace, turned_back: bool = False) -> list[str]:
    """Return the answers that a pass submitted, or of them those that were turned back."""
    return [s.text for s in trace.submissions if s.text is not None and not (turned_back and s.accepted)]


def count_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row an outcome that occurs: outcome, n, n_error, n_judged, and of how many each finding holds.

    ``n_error`` counts questions with a failed pass. ``n_judged`` counts those whose needed passages and what was
    retrieved are known: the counts of passages are of these. Other counts are None where no question tells.

    Parameters
    ----------
    rows
        As `analyse_errors` makes them, of one system.
    """
    counted = []
    for outcome in OUTCOMES:
        of = rows[rows["outcome"] == outcome]
        if len(of) == 0:
            continue
        judged = of[of["found_by_any_pass"].notna()]
        needed = judged["needed"].astype(float)
        by_filing = of[of["found_by_filing_pass"].notna()]
        row = {"outcome": outcome, "n": len(of), "n_error": int((of["failed_passes"].astype(int) > 0).sum())}
        row |= {
            "n_judged": len(judged),
            "all_found_by_filing_pass": _count(by_filing["found_by_filing_pass"] == by_filing["needed"]),
            "all_found": _count(judged["found_by_any_pass"].astype(float) == needed),
            "none_found": _count(judged["found_by_any_pass"].astype(float) == 0),
        }
        for finding in ("right_in_another_pass", "right_turned_back", "turned_back_counted"):
            row[finding] = _count(of[finding].dropna().astype(bool))
        counted.append(row)
    frame = pd.DataFrame(counted)
    return frame.astype(dict.fromkeys(frame.columns.drop("outcome", errors="ignore"), "Int64"))


def _count(holds: pd.Series) -> int | None:
    return int(holds.sum()) if len(holds) else None
