"""Confidence fitted on signals and held out by question: nested cross-validation over the answers of one run.

An outer fold's answers get their confidence from models that were fitted on the other folds alone, hyperparameters,
calibration and threshold included (`fitted_models`). This is the next step that the paper proposes after its rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibrag.confidence import fitted_folds
from calibrag.confidence.fitted_models import FittedConfidence
from calibrag.errors import CalibragError, InputError

KEYS = ("qid", "group", "answer", "right", "confidence")
"""Columns of a file of signals before the signals themselves."""

BASE_RATE = "base-rate"
"""The run whose confidence is the share of right answers in the other folds."""

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
        return Signals(*(column[chosen] for column in self[:-1]), self.signals.iloc[np.arange(len(self.qids))[chosen]])

    def without(self, signals: list[str]) -> Signals:
        """Return the same rows without these signals."""
        return self._replace(signals=self.signals.drop(columns=signals))


def read_signals(path: str | Path) -> Signals:
    """Return what extract_signals wrote.

    Raises
    ------
    InputError
        A column is missing, a question stands in two rows, or a value is of another type.
    """
    text = {"qid": object, "group": object, "answer": object}
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={})
    return from_frame(frame, path)


def from_frame(frame: pd.DataFrame, path: str | Path) -> Signals:
    """Return the signals of a frame, whose cells may be text, empty where a value is missing; see `read_signals`."""
    if absent := [name for name in KEYS if name not in frame]:
        raise InputError(path, f"must have the columns {', '.join(KEYS)} (lacks {', '.join(absent)})")
    if (twice := frame["qid"].duplicated()).any():
        qid = frame["qid"][twice].iloc[0]
        raise InputError(path, f"a question must have one row ({qid} has more)", field="qid")
    truth = frame["right"].astype(str)
    if not truth.isin(["True", "False"]).all():
        raise InputError(path, f"must be True or False (got {truth[~truth.isin(['True', 'False'])].iloc[0]})", field="right")
    numbers = {}
    for name in frame.columns.drop(list(KEYS[:-1])):
        try:
            numbers[name] = pd.to_numeric(frame[name].replace("", np.nan)).astype(float)
        except (ValueError, TypeError) as error:
            raise InputError(path, f"must be numbers ({error})", field=name) from None
        if np.isinf(numbers[name]).any():
            raise InputError(path, "must be finite (got an infinite number)", field=name)
    stated = numbers.pop("confidence").to_numpy()
    columns = (frame[name].to_numpy(object) for name in KEYS[:3])
    signals = pd.DataFrame(numbers, index=frame.index, dtype=float)
    return Signals(*columns, (truth == "True").to_numpy(bool), stated, signals)


class Fit(NamedTuple):
    """What nested cross-validation gives.

    ``confidences``: run -> one number in [0, 1] an answer, in their order, each from models fitted without its fold;
    ``folds``: columns qid, group, fold; ``fits``: the columns ``FITS``, a row a model and fold; ``weights``: the columns
    ``WEIGHTS``, a row a model, fold and signal.
    """

    confidences: dict[str, NDArray[np.float64]]
    folds: pd.DataFrame
    fits: pd.DataFrame
    weights: pd.DataFrame


def run_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the fitted runs: two for each model, ``-sharp`` with confidences of 0 and 1, and the base rate."""
    return [f"fitted-{model}{end}" for model in settings["models"] for end in ("", "-sharp")] + [BASE_RATE]


def cross_fit(answers: Signals, settings: Mapping[str, Any]) -> Fit:
    """Return a fitted confidence for every answer, from models that saw no answer to an equal question.

    Parameters
    ----------
    settings
        The block ``confidence.fitted`` of the configuration.

    Raises
    ------
    LeakError
        There are fewer than two questions that differ.
    """
    outer = settings["folds"]
    fold = fitted_folds.assign_folds(answers.groups, answers.right, outer["outer"], outer["seed"])
    folds = pd.DataFrame({"qid": answers.qids, "group": answers.groups, "fold": fold})
    fitted_folds.check_folds(folds, answers.qids)
    confidences = {run: np.full(len(fold), np.nan) for run in run_names(settings)}
    fits, weights = [], []
    for number, (train, test) in enumerate(fitted_folds.splits(fold), start=1):
        models = fit_models(answers.rows(train), settings)
        held_out = answers.rows(test)
        for run, stated in predict(models, held_out.signals).items():
            confidences[run][test] = stated
        for name, model in models.items():
            fits.append(_describe(name, number, model, answers.right[train], len(test), answers.signals.shape[1]))
            for signal, weight in model.weights(held_out.signals, held_out.right).items():
                weights.append((f"fitted-{name}", number, signal, KINDS[name], weight))
    for run, stated in confidences.items():
        if np.isnan(stated).any():
            raise CalibragError(f"{run}: {int(np.isnan(stated).sum())} answers got no confidence, a fault of calibrag")
    return Fit(confidences, folds, pd.DataFrame(fits, columns=FITS), pd.DataFrame(weights, columns=WEIGHTS))


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
    """Return run -> the confidence of each row, for the runs of `run_names`."""
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
