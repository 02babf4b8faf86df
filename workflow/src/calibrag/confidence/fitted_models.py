"""The models that confidence is fitted with: their preprocessing, hyperparameters, calibration and weights.

All that is learnt is learnt from the answers given to ``fit``, by folds among these: which signals vary, what replaces
a missing one, scales, hyperparameters (by log loss), calibration, and the threshold of the sharpened confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer
from sklearn.model_selection import ParameterGrid, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from calibrag.confidence.fitted_folds import Split, assign_folds, splits
from calibrag.evaluation import confidence

_LOG_LOSS = make_scorer(log_loss, response_method="predict_proba", greater_is_better=False, labels=[False, True])

_REPEATS = 5
"""Times that a signal is shuffled for its importance."""


class VaryingSignals(TransformerMixin, BaseEstimator):
    """Keeps the signals that vary among the rows it is fitted on, a missing value being one of its own."""

    def fit(self, X: NDArray, y: Any = None) -> Self:
        """Learn which signals vary."""
        missing = np.isnan(X)
        observed = ~missing.all(axis=0)
        low, high = (edge(np.where(missing, fill, X), axis=0) for edge, fill in ((np.min, np.inf), (np.max, -np.inf)))
        self.kept_ = observed & ((low < high) | missing.any(axis=0))
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: NDArray) -> NDArray:
        """Return the signals kept; a column of zeros where none is."""
        # the models take no table without columns
        return X[:, self.kept_] if self.kept_.any() else np.zeros((len(X), 1))

    def get_feature_names_out(self, input_features: Sequence[str]) -> NDArray:
        """Return the names of the signals kept."""
        return np.asarray(input_features, dtype=object)[self.kept_] if self.kept_.any() else np.array(["none"], object)


def _logistic(seed: int) -> Pipeline:
    """Return logistic regression, L2: medians and indicators for missing signals, all scaled to variance 1."""
    return Pipeline(
        [
            ("varying", VaryingSignals()),
            ("imputed", SimpleImputer(strategy="median", add_indicator=True)),
            ("scaled", StandardScaler()),
            ("model", LogisticRegression(max_iter=1000, random_state=seed)),
        ]
    )


def _boosting(seed: int) -> Pipeline:
    """Return gradient-boosted trees, which branch on a missing value as on any other."""
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
    return Pipeline([("varying", VaryingSignals()), ("model", model)])


MODELS = {"logistic": _logistic, "boosting": _boosting}
"""Name -> function of a seed that returns the model."""


class _Scored(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are given as its only feature, so that what calibrates takes them as they are."""

    def fit(self, X: Any, y: NDArray) -> Self:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: NDArray) -> NDArray:
        return X[:, 0]


@contextmanager
def _quick() -> Iterator[None]:
    """Keep to one thread, and check no parameters: with a hundred answers that would take longer than the fits."""
    with threadpool_limits(1), config_context(skip_parameter_validation=True):
        yield


class FittedConfidence:
    """Confidence in [0, 1] as a function of signals, learnt from answers known to be right or wrong.

    Where too few answers are right, or wrong, no signal varies, or what was learnt does not rise with right answers
    among those held out, it is the share of right answers, and ``reason_`` says why.

    Parameters
    ----------
    model
        A name in ``MODELS``.
    grid
        Hyperparameter -> values to try.
    inner
        Folds among the answers given to ``fit``, 2 or more.
    fewest
        Right answers, and wrong ones, from which on a model is fitted.
    calibration
        How scores become probabilities.
    seed
        Of folds and models.

    Attributes
    ----------
    base_rate_
        Share of right answers.
    reason_
        Why there is no model; None where there is one.
    chosen_
        Hyperparameter -> value chosen; empty without a model.
    log_loss_
        Of the inner folds at these, before calibration; None without a model.
    threshold_
        Score above which the sharpened confidence is 1; None without a model, or where all scores are equal.
    """

    def __init__(
        self, model: str, grid: Mapping[str, Sequence], inner: int, fewest: int,
        calibration: Literal["sigmoid", "isotonic"], seed: int,
    ):  # fmt: skip
        self.model, self.grid, self.inner = model, grid, inner
        self.fewest, self.calibration, self.seed = fewest, calibration, seed

    def fit(self, signals: pd.DataFrame, right: NDArray[np.bool_], groups: Sequence[str]) -> Self:
        """Learn from one row an answer; equal ``groups`` stay together in the inner folds."""
        self.base_rate_ = float(right.mean())
        self.chosen_, self.log_loss_, self.threshold_ = {}, None, None
        values = signals.to_numpy(float)
        self.reason_ = self._too_little(values, right)
        if self.reason_ is None:
            parts = splits(assign_folds(groups, right, self.inner, self.seed))
            if any(len(np.unique(right[train])) < 2 for train, _ in parts):
                self.reason_ = "an inner fold holds right or wrong answers alone"
            else:
                with _quick():
                    self._learn(values, right, parts)
        return self

    def _too_little(self, values: NDArray, right: NDArray[np.bool_]) -> str | None:
        for what, count in (("right", int(right.sum())), ("wrong", int((~right).sum()))):
            if count < self.fewest:
                return f"{count} {what} answers, fewer than {self.fewest}"
        return None if VaryingSignals().fit(values).kept_.any() else "no signal varies"

    def _learn(self, values: NDArray, right: NDArray[np.bool_], parts: list[Split]) -> None:
        best = None
        for parameters in ParameterGrid(self.grid):
            model = MODELS[self.model](self.seed).set_params(**{f"model__{key}": parameters[key] for key in parameters})
            # scores of answers that the model was not fitted on, as those to come
            scores = cross_val_predict(model, values, right, cv=parts, method="decision_function")
            loss = float(log_loss(right, expit(scores)))
            if best is None or loss < self.log_loss_:
                self.chosen_, self.log_loss_, best = parameters, loss, (model, scores)
        model, scores = best
        self._model = model.fit(values, right)
        given = FrozenEstimator(_Scored().fit(None, right))
        calibrated = CalibratedClassifierCV(given, method=self.calibration, cv=parts)
        self._calibrated = calibrated.fit(scores[:, None], right)
        low, high = self._calibrated.predict_proba(np.array([[scores.min()], [scores.max()]]))[:, 1]
        if low >= high:
            # a falling calibration would turn the order of the outer model's scores around
            self.chosen_, self.log_loss_, self.reason_ = {}, None, "held-out scores do not rise with right answers"
            return
        self.threshold_ = best_threshold(scores, right)

    def _scores(self, signals: pd.DataFrame) -> NDArray[np.float64]:
        with _quick():
            return self._model.decision_function(signals.to_numpy(float))

    def confidence(self, signals: pd.DataFrame) -> NDArray[np.float64]:
        """Return the calibrated probability that each answer is right; without a model the base rate."""
        if self.reason_ is not None:
            return np.full(len(signals), self.base_rate_)
        return self._calibrated.predict_proba(self._scores(signals)[:, None])[:, 1]

    def sharpened(self, signals: pd.DataFrame) -> NDArray[np.float64]:
        """Return 1 where the score lies above ``threshold_``, else 0; without a threshold .5, the best of constants."""
        if self.threshold_ is None:
            return np.full(len(signals), 0.5)
        return (self._scores(signals) > self.threshold_).astype(float)

    def weights(self, signals: pd.DataFrame, right: NDArray[np.bool_]) -> dict[str, float]:
        """Return signal -> its weight: a coefficient for a deviation of one standard deviation, or an importance.

        An importance is how much log loss rises on the given answers, which should be others than those fitted on, when
        the signal is shuffled. Indicators of missing values are named ``... missing``. Empty without a model.
        """
        if self.reason_ is not None:
            return {}
        if self.model == "logistic":
            names = self._model[:-1].get_feature_names_out(list(signals.columns))
            return dict(zip(map(_readable, names), map(float, self._model[-1].coef_[0]), strict=True))
        settings = {"scoring": _LOG_LOSS, "n_repeats": _REPEATS, "random_state": self.seed}
        with _quick():
            importance = permutation_importance(self._model, signals.to_numpy(float), right, **settings)
        return dict(zip(signals.columns, map(float, importance.importances_mean), strict=True))


def _readable(name: str) -> str:
    indicator = name.removeprefix("missingindicator_")
    return name if indicator == name else f"{indicator} missing"


def best_threshold(scores: NDArray, right: NDArray[np.bool_]) -> float | None:
    """Return the threshold that gives the highest HMR if answers above it are filed with 1 and others with 0.

    HMR rises with R_O and R_U, which for confidences of 0 and 1 are the shares of wrong answers below and of right ones
    above: of all monotone mappings of a score without ties, one with two levels is best. The lowest of equals; midway
    between two scores. None where all scores are equal.
    """
    levels, place = np.unique(scores, return_inverse=True)
    if len(levels) < 2:
        return None
    right_below, wrong_below = (
        np.cumsum(np.bincount(place[part], minlength=len(levels)))[:-1] for part in (right, ~right)
    )
    r_o, r_u = wrong_below / max(1, (~right).sum()), 1 - right_below / max(1, right.sum())
    best = int(np.argmax(confidence.harmonic_mean(r_o, r_u)))
    return float((levels[best] + levels[best + 1]) / 2)
