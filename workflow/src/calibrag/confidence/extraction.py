"""The table of signals: one row an answer of the studied run, beside whether it is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from calibrag.confidence.signals import Case, signals_of
from calibrag.errors import CalibragError
from calibrag.evaluation.labels import Right
from calibrag.normalisation import answer_key
from calibrag.records import Question
from calibrag.trace import RunEntry, Trace

TEXT = ["qid", "group", "answer"]
COLUMNS = [*TEXT, "right", "confidence"]
"""Columns before those of the signals.

``group`` is the key of the question's text, so that questions asked twice stay together in cross-validation;
``confidence`` is the rule's own.
"""


def extract_signals(
    entries: Iterable[RunEntry],
    questions: Sequence[Question],
    traces: Mapping[str, Sequence[Trace]],
    right: Right,
    asked_again: Iterable[RunEntry] = (),
) -> pd.DataFrame:
    """Return one row a question that the run answers, in the order of the questions: `COLUMNS`, then each signal.

    Refusals and questions that the run lacks have no row. A missing signal is NaN.

    Parameters
    ----------
    entries
        Of the studied run.
    traces
        qid -> its passes, in their order.
    right
        Takes a qid and an answer, and says whether it is right. No signal sees it.
    asked_again
        Of the model that was asked again for a confidence.

    Raises
    ------
    CalibragError
        An answer is of a question that was not asked, or has no traces.
    """
    asked = {question.qid: question for question in questions}
    filed = {entry.qid: entry for entry in entries if entry.answer is not None}
    for qid in filed:
        if qid not in asked or qid not in traces:
            raise CalibragError(f"the run answers {qid}, which {'has no traces' if qid in asked else 'was not asked'}")
    again = {entry.qid: entry for entry in asked_again}
    signals = signals_of(trace for passes in traces.values() for trace in passes)
    rows = []
    for qid in (qid for qid in asked if qid in filed):
        entry, question = filed[qid], asked[qid]
        case = Case(question.text, entry, traces[qid], again.get(qid))
        known = (qid, answer_key(question.text), entry.answer, right(qid, entry.answer), entry.confidence)
        rows.append([*known, *(signal.of(case) for signal in signals.values())])
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *signals])
    return frame.astype(
        dict.fromkeys(TEXT, object) | {"right": bool, "confidence": float} | dict.fromkeys(signals, float)
    )


def read_signals(path: str | Path) -> pd.DataFrame:
    """Return a table of signals from its file: text stays text whatever it says, and an empty signal is NaN."""
    text = pd.read_csv(path, dtype=object, usecols=TEXT, keep_default_na=False)
    numbers = pd.read_csv(path).drop(columns=TEXT)
    types = dict.fromkeys(numbers.columns, float) | {"right": bool}
    return pd.concat([text, numbers.astype(types)], axis=1)
