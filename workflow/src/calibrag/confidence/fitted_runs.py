"""Answer runs of fitted confidences: the studied run's answers and nuggets, with confidences held out by question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.confidence.fitted import Fit, Signals, as_signals, cross_fit
from calibrag.errors import CalibragError
from calibrag.trace import RunEntry


def fit_confidence(
    entries: Iterable[RunEntry], frame: pd.DataFrame, settings: Mapping[str, Any]
) -> tuple[list[RunEntry], Fit]:
    """Return the fitted runs of a studied run one after another, and how they were fitted.

    Regression on trace signals is the paper's proposed next step after its two rules. A refusal keeps confidence 0. An
    answer for which there is no other question to fit on is missing from the fitted runs.

    Parameters
    ----------
    entries
        Of the studied run.
    frame
        The signals of its answers, from `extraction.read_signals`.
    settings
        The block ``confidence.fitted`` of the configuration.

    Raises
    ------
    CalibragError
        Signals and run have other answers.
    """
    studied, answers = list(entries), as_signals(frame)
    _check_answers(studied, answers)
    fit = cross_fit(answers, settings)
    return [entry for run, stated in fit.confidences.items() for entry in _file(run, studied, answers, stated)], fit


def _file(run: str, studied: list[RunEntry], answers: Signals, stated: NDArray[np.float64]) -> list[RunEntry]:
    by_qid = {qid: float(value) for qid, value in zip(answers.qids, stated, strict=True) if not np.isnan(value)}
    return [
        msgspec.structs.replace(entry, run=run, confidence=0.0 if entry.answer is None else by_qid[entry.qid])
        for entry in studied
        if entry.answer is None or entry.qid in by_qid
    ]


def _check_answers(studied: list[RunEntry], answers: Signals) -> None:
    filed = {entry.qid: entry.answer for entry in studied if entry.answer is not None}
    known = dict(zip(answers.qids, answers.answers, strict=True))
    if other := sorted(qid for qid in filed.keys() | known.keys() if filed.get(qid) != known.get(qid)):
        raise CalibragError(
            f"the run and its signals must be of the same answers ({len(other)} differ, such as that to {other[0]}); "
            "remove the confidence folder of the system and run the workflow again"
        )


def describe_fit(fit: Fit) -> str:
    """Return what was fitted, as a line for the log."""
    instead = fit.fits["instead"].dropna()
    reasons = f": {'; '.join(dict.fromkeys(instead))}" if len(instead) else ""
    answers = len(next(iter(fit.confidences.values())))
    return (
        f"{answers} answers in {fit.folds['fold'].nunique()} folds; {len(fit.fits)} fits, of which {len(instead)} gave "
        f"the base rate{reasons}"
    )
