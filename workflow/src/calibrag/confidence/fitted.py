"""Confidence fitted on signals and held out by question: nested cross-validation over the answers of one run.

An outer fold's answers get their confidence from models that were fitted on the other folds alone, hyperparameters,
calibration and threshold included (`fitted_models`). This is the next step that the paper proposes after its rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.confidence.extraction import COLUMNS
from calibrag.confidence.fitted_folds import assign_folds, check_folds, splits
from calibrag.confidence.fitted_models import FittedConfidence
from calibrag.errors import CalibragError
from calibrag.runs.names import BASE_RATE, fitted_runs

FITS = (
    "run", "fold", "n_train", "n_test", "n_right", "base_rate", "signals", "chosen", "log_loss", "threshold", "instead",
)  # fmt: skip
WEIGHTS = ("run", "fold", "signal", "kind", "weight")
KINDS = {"logistic": "coefficient", "boosting": "importance"}


class Signals(NamedTuple):
    """The answers of a run that are no refusals, one row each, with whether they are right and the signals of each.

    ``confidence`` is that of the run, in [0, 1]; ``signals`` a column a signal, floats, NaN where one is missing.
    """

    qids: NDArray[np.object_]
    groups: NDArray[np.object_]
    answers: NDArray[np.object_]
    right: NDArray[np.bool_]
    confidence: NDArray[np.float64]
    signals: pd.DataFrame

    def rows(self, chosen: NDArray) -> Signals:
        """Return the chosen rows, by number or as a mask."""
        return Signals(*(column[chosen] for column in self[:-1]), self.signals.loc[chosen].reset_index(drop=True))


def as_signals(frame: pd.DataFrame) -> Signals:
    """Return what `extraction.read_signals` gives, its columns apart.

    Raises
    ------
    CalibragError
        A question has two rows, or a signal is infinite.
    """
    if (twice := frame["qid"].duplicated()).any():
        raise CalibragError(f"a question must have one row of signals ({frame['qid'][twice].iloc[0]} has more)")
    signals = frame.drop(columns=COLUMNS).astype(float).reset_index(drop=True)
    if infinite := [name for name in signals if np.isinf(signals[name]).any()]:
        raise CalibragError(f"signals must be finite, or missing (got an infinite number in {', '.join(infinite)})")
    keys = (frame[name].to_numpy(object) for name in ("qid", "group", "answer"))
    return Signals(*keys, frame["right"].to_numpy(bool), frame["confidence"].to_numpy(float), signals)


class Fit(NamedTuple):
    """What nested cross-validation gives.

    ``confidences``: run -> one number in [0, 1] an answer, in their order, each from models fitted without its fold,
    and NaN where there is no other question to fit on; ``folds``: columns qid, group, fold; ``fits``: the columns
    ``FITS``, a row a model and fold; ``weights``: the columns ``WEIGHTS``, a row a model, fold and signal.
    """

    confidences: dict[str, NDArray[np.float64]]
    folds: pd.DataFrame
    fits: pd.DataFrame
    weights: pd.DataFrame


def cross_fit(answers: Signals, settings: Mapping[str, Any]) -> Fit:
    """Return a fitted confidence for every answer, from models that saw no answer to an equal question.

    Parameters
    ----------
    settings
        The block ``confidence.fitted`` of the configuration.
    """
    confidences, fold, models = hold_out(answers, settings)
    folds = pd.DataFrame({"qid": answers.qids, "group": answers.groups, "fold": fold})[fold > 0].reset_index(drop=True)
    fits, weights = [], []
    for number, (by_name, (train, test)) in enumerate(zip(models, splits(fold[fold > 0]), strict=True), start=1):
        held_out = answers.rows(test)
        for name, model in by_name.items():
            fits.append(_describe(name, number, model, answers.right[train], len(test), answers.signals.shape[1]))
            for signal, weight in model.weights(held_out.signals, held_out.right).items():
                weights.append((f"fitted-{name}", number, signal, KINDS[name], weight))
    return Fit(confidences, folds, pd.DataFrame(fits, columns=FITS), pd.DataFrame(weights, columns=WEIGHTS))


def hold_out(
    answers: Signals, settings: Mapping[str, Any]
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int_], list[dict[str, FittedConfidence]]]:
    """Return the confidences of `cross_fit`, the fold of each answer, from 1, and the models fitted without each fold.

    Where there are fewer than two questions that differ, there is no fold: NaN, 0 and no models.
    """
    confidences = {run: np.full(len(answers.qids), np.nan) for run in fitted_runs(settings)}
    if len(set(answers.groups)) < 2:
        return confidences, np.zeros(len(answers.qids), int), []
    outer = settings["folds"]
    fold = assign_folds(answers.groups, answers.right, outer["outer"], outer["seed"])
    check_folds(pd.DataFrame({"qid": answers.qids, "group": answers.groups, "fold": fold}), answers.qids)
    models = []
    for train, test in splits(fold):
        models.append(fit_models(answers.rows(train), settings))
        for run, stated in predict(models[-1], answers.rows(test).signals).items():
            confidences[run][test] = stated
    for run, stated in confidences.items():
        if np.isnan(stated).any():
            raise CalibragError(f"{run}: {int(np.isnan(stated).sum())} answers got no confidence, a fault of calibrag")
    return confidences, fold, models


def fit_models(answers: Signals, settings: Mapping[str, Any]) -> dict[str, FittedConfidence]:
    """Return model -> what it learnt from the answers; settings as in `cross_fit`."""
    inner, seed = settings["folds"]["inner"], settings["folds"]["seed"]
    return {
        name: FittedConfidence(name, grid, inner, settings["fewest"], settings["calibration"], seed).fit(
            answers.signals, answers.right, answers.groups
        )
        for name, grid in settings["models"].items()
    }


def predict(models: Mapping[str, FittedConfidence], signals: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return run -> the confidence of each row, for the runs of `names.fitted_runs`."""
    stated = {}
    for name, model in models.items():
        stated[f"fitted-{name}"] = model.confidence(signals)
        stated[f"fitted-{name}-sharp"] = model.sharpened(signals)
    base_rate = next(iter(models.values())).base_rate_
    return stated | {BASE_RATE: np.full(len(signals), base_rate)}


def _describe(name, fold, model, right, n_test, signals) -> tuple:
    chosen = "; ".join(f"{parameter}={value}" for parameter, value in model.chosen_.items())
    instead = model.reason_ and f"base rate: {model.reason_}"
    return (
        f"fitted-{name}", fold, len(right), n_test, int(right.sum()), model.base_rate_, signals, chosen or None,
        model.log_loss_, model.threshold_, instead,
    )  # fmt: skip
