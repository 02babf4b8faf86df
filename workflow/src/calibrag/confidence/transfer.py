"""Transfer: confidence fitted on all answers of one collection, filed for those of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibrag.confidence.comparison import sample
from calibrag.confidence.extraction import read_signals
from calibrag.confidence.fitted import Signals, as_signals, fit_models, predict
from calibrag.evaluation import bootstrap
from calibrag.evaluation.answer_measures import parse_measure
from calibrag.records import read_jsonl
from calibrag.runs.names import fitted_runs
from calibrag.trace import RunEntry

MEASURES = ("AUROC", "HMR", "accHMR", "Brier", "ECE")
KEYS = ("system", "fitted_on", "tested_on", "run")


def transfer_confidence(
    frames: Mapping[str, pd.DataFrame], fitted: Mapping[str, Iterable[RunEntry]], system: str,
    settings: Mapping[str, Any], resampling: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row an ordered pair of collections and a fitted run.

    Columns: ``KEYS``; ``n`` answers tested on, ``n_left_out`` those whose question the other collection has as well,
    ``n_right``, ``n_fitted``; ``signals``, those that both collections have; ``instead``, why the base rate stands
    for a model; each of ``MEASURES`` with its interval, then the same measure of the confidence fitted within the
    tested collection, held out by question (``_within``), and the difference with its interval (``_difference``).
    Measures are None where they are undefined or nothing is left to fit or test on. Refusals have no part.

    Parameters
    ----------
    frames
        Collection -> signals of the studied run's answers, from `extraction.read_signals`.
    fitted
        Collection -> the fitted runs within it.
    system
        Of all of them.
    settings, resampling
        The blocks ``confidence.fitted`` and ``evaluation.bootstrap`` of the configuration.
    """
    answers = {name: as_signals(frame) for name, frame in frames.items()}
    within = {name: {(entry.run, entry.qid): entry.confidence for entry in runs} for name, runs in fitted.items()}
    rows: list[dict[str, Any]] = []
    for source, target in permutations(answers, 2):
        test, left_out = _unseen(answers[target], answers[source].groups)
        keys = {"system": system, "fitted_on": source, "tested_on": target}
        rows += [keys | row for row in _transfer(answers[source], test, left_out, within[target], settings, resampling)]
    columns = [f"{measure}{end}" for measure in MEASURES for end in _ENDS]
    return pd.DataFrame(rows, columns=[*KEYS, *_COUNTS, *columns])


_COUNTS = ("n", "n_left_out", "n_right", "n_fitted", "signals", "instead")
_ENDS = ("", "_low", "_high", "_within", "_difference", "_difference_low", "_difference_high")


def _unseen(target: Signals, seen: Sequence[str]) -> tuple[Signals, int]:
    new = ~np.isin(target.groups.astype(str), np.asarray(seen).astype(str))
    return target.rows(new), int((~new).sum())


def common_signals(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Return the signals of which both have a value, in the order of the first."""
    return [name for name in first if name in second and first[name].notna().any() and second[name].notna().any()]


def _transfer(source: Signals, test: Signals, left_out: int, within, settings, resampling) -> list[dict[str, Any]]:
    common = common_signals(source.signals, test.signals)
    counts = {
        "n": len(test.qids), "n_left_out": left_out, "n_right": int(test.right.sum()), "n_fitted": len(source.qids),
        "signals": len(common),
    }  # fmt: skip
    if not (len(source.qids) and len(test.qids)):
        return [{"run": run, **counts, "instead": "nothing to fit or test on"} for run in fitted_runs(settings)]
    models = fit_models(source._replace(signals=source.signals[common]), settings)
    reasons = {f"fitted-{name}": model.reason_ for name, model in models.items()}
    index = bootstrap.resamples(len(test.qids), resampling["resamples"], resampling["seed"])
    measures = list(map(parse_measure, MEASURES))
    rows = []
    for run, stated in predict(models, test.signals[common]).items():
        row: dict[str, Any] = {"run": run, **counts, "instead": reasons.get(run.removesuffix("-sharp"))}
        sampled = sample(measures, stated, test.right, index)
        own = np.array([within.get((run, qid), np.nan) for qid in test.qids])
        beside = None if np.isnan(own).any() else sample(measures, own, test.right, index)
        for measure in measures:
            row |= sampled[measure].cells(str(measure), resampling["level"])
            if beside is not None:
                row[f"{measure}_within"] = None if np.isnan(beside[measure].value) else beside[measure].value
                difference = sampled[measure].less(beside[measure])
                row |= difference.cells(f"{measure}_difference", resampling["level"])
        rows.append(row)
    return rows


def transfer_systems(
    signals: Sequence[str | Path], fitted: Sequence[str | Path], collections: Sequence[str], systems: Sequence[str],
    settings: Mapping[str, Any], resampling: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return `transfer_confidence` of several systems below one another.

    Parameters
    ----------
    signals, fitted
        Files of signals and of fitted runs, one a collection and system: all systems of the first collection, then of
        the next.
    """
    frames = dict(zip(product(collections, systems), map(read_signals, signals), strict=True))
    runs = dict(zip(product(collections, systems), fitted, strict=True))
    tables = [
        transfer_confidence(
            {name: frames[name, system] for name in collections},
            {name: read_jsonl(runs[name, system], RunEntry) for name in collections},
            system, settings, resampling,
        )
        for system in systems
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True)
