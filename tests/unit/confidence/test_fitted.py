"""Fitted confidence is out of fold for every answer, as a plain loop finds it, and finds what there is to find."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_signals import SETTINGS, labelled
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from calibrag.confidence import fitted_models
from calibrag.confidence.fitted import as_signals, cross_fit, fit_models, predict
from calibrag.confidence.fitted_folds import assign_folds
from calibrag.confidence.fitted_models import FittedConfidence, VaryingSignals, best_threshold
from calibrag.confidence.fitted_runs import fit_confidence
from calibrag.errors import CalibragError, LeakError
from calibrag.evaluation.answer_measures import parse_measure
from calibrag.runs.names import fitted_runs
from calibrag.trace import Nugget, RunEntry

HMR = parse_measure("HMR")
ANSWERS = as_signals(labelled())
FIT = cross_fit(ANSWERS, SETTINGS)


def test_a_signal_that_tells_is_found_by_both_models_and_sharpening_raises_hmr():
    for model in ("logistic", "boosting"):
        stated = FIT.confidences[f"fitted-{model}"]
        assert roc_auc_score(ANSWERS.right, stated) > 0.85
        assert abs(stated.mean() - ANSWERS.right.mean()) < 0.05
        sharp = FIT.confidences[f"fitted-{model}-sharp"]
        assert set(sharp) == {0.0, 1.0}
        assert HMR(sharp, ANSWERS.right) > HMR(stated, ANSWERS.right)
    weights = FIT.weights.groupby(["run", "signal"])["weight"].mean()
    assert weights["fitted-logistic"].abs().idxmax() == weights["fitted-boosting"].idxmax() == "agreement"


def test_every_answer_has_one_confidence_of_each_run_and_the_same_again():
    assert list(FIT.confidences) == fitted_runs(SETTINGS)
    for stated in FIT.confidences.values():
        assert stated.shape == (120,) and ((stated >= 0) & (stated <= 1)).all()
    again = cross_fit(ANSWERS, SETTINGS)
    assert all((again.confidences[run] == stated).all() for run, stated in FIT.confidences.items())
    pd.testing.assert_frame_equal(again.fits, FIT.fits)
    pd.testing.assert_frame_equal(again.weights, FIT.weights)


def platt(scores, right, new):
    """Return probabilities of new scores by Platt's sigmoid (1999), with his targets, by a general minimiser."""
    targets = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))

    def loss(line):
        logits = line[0] * scores + line[1]
        return np.sum(np.logaddexp(0, logits) - targets * logits)

    slope, shift = minimize(loss, [1.0, 0.0], tol=1e-12).x
    return 1 / (1 + np.exp(-(slope * new + shift)))


def test_logistic_confidence_is_that_of_a_plain_loop():
    """The second implementation: preprocessing by hand, loops for folds and hyperparameters."""
    frame = labelled()
    right = frame["right"].to_numpy()
    columns = ["filed_confidence", "agreement", "noise", "sometimes"]

    def prepare(train, rows):
        missing = train["sometimes"].isna()
        table = rows[columns].fillna(train[columns].median()).assign(missing=rows["sometimes"].isna().astype(float))
        known = train[columns].fillna(train[columns].median()).assign(missing=missing.astype(float))
        return ((table - known.mean()) / known.std(ddof=0)).to_numpy()

    def score(train, rows, C):
        model = LogisticRegression(C=C, max_iter=1000).fit(prepare(train, train), train["right"])
        return model.decision_function(prepare(train, rows))

    stated = np.full(len(frame), np.nan)
    folds = FIT.folds["fold"].to_numpy()
    for fold in np.unique(folds):
        train, test = frame[folds != fold], frame[folds == fold]
        inner = assign_folds(list(train["group"]), train["right"].to_numpy(), 3, 19)
        found, losses = {}, {}
        for C in (0.1, 1.0):
            scores = np.zeros(len(train))
            for number in np.unique(inner):
                scores[inner == number] = score(train[inner != number], train[inner == number], C)
            found[C], losses[C] = scores, log_loss(train["right"], 1 / (1 + np.exp(-scores)))
        C = min(losses, key=losses.get)
        stated[folds == fold] = platt(found[C], train["right"].to_numpy(), score(train, test, C))
    np.testing.assert_allclose(FIT.confidences["fitted-logistic"], stated, atol=1e-4)
    assert roc_auc_score(right, stated) > 0.85


def test_the_base_rate_is_the_share_of_right_answers_in_the_other_folds():
    folds = FIT.folds["fold"].to_numpy()
    wanted = [ANSWERS.right[folds != fold].mean() for fold in folds]
    np.testing.assert_allclose(FIT.confidences["base-rate"], wanted)


def test_the_answers_of_a_fold_have_no_part_in_their_own_confidence():
    """Models that never saw the first fold, fitted apart, give its confidences to the last digit."""
    folds = FIT.folds["fold"].to_numpy()
    test = folds == 1
    train = ANSWERS.rows(~test)
    expected = predict(fit_models(train, SETTINGS), ANSWERS.rows(test).signals)
    for run, stated in expected.items():
        np.testing.assert_array_equal(FIT.confidences[run][test], stated)


def test_each_fit_is_recorded_with_what_was_chosen():
    fits = FIT.fits
    assert len(fits) == 2 * 4
    assert (fits["n_train"] + fits["n_test"] == 120).all()
    assert fits["chosen"].str.contains("C=|max_iter=").all() and fits["instead"].isna().all()
    assert set(FIT.weights["kind"]) == {"coefficient", "importance"}
    logistic = FIT.weights[FIT.weights["run"] == "fitted-logistic"]
    # a signal that is constant or missing everywhere has no coefficient; one that is missing at times has two
    assert set(logistic["signal"]) == {"filed_confidence", "agreement", "noise", "sometimes", "sometimes missing"}


# --- little to learn from --------------------------------------------------------------------------


@pytest.mark.parametrize("n_right", [0, 1, 2, 60])
def test_too_few_right_or_wrong_answers_give_the_base_rate_and_say_so(n_right):
    frame = labelled(60)
    fit = cross_fit(as_signals(frame.assign(right=np.arange(60) < n_right)), SETTINGS)
    for model in ("logistic", "boosting"):
        np.testing.assert_array_equal(fit.confidences[f"fitted-{model}"], fit.confidences["base-rate"])
        assert (fit.confidences[f"fitted-{model}-sharp"] == 0.5).all()
    assert fit.fits["instead"].str.match(r"base rate: \d+ (right|wrong) answers, fewer than 3").all()
    assert fit.weights.empty


def test_signals_that_never_vary_give_the_base_rate_and_say_so():
    frame = labelled(60)
    keys = ["qid", "group", "answer", "right", "confidence", "constant", "never"]
    fit = cross_fit(as_signals(frame[keys]), SETTINGS)
    assert set(fit.fits["instead"]) == {"base rate: no signal varies"}


@pytest.mark.parametrize("n", [0, 1])
def test_a_single_question_has_no_fitted_confidence(n):
    fit = cross_fit(as_signals(labelled(60).iloc[:n]), SETTINGS)
    assert all(np.isnan(stated).all() for stated in fit.confidences.values())
    assert fit.folds.empty and list(fit.folds) == ["qid", "group", "fold"]


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 14), st.integers(0, 3), st.floats(0, 1))
def test_however_few_there_are_no_answer_is_left_without_confidence(n, seed, share):
    few = copy.deepcopy(SETTINGS) | {"models": {"logistic": {"C": [1.0]}}, "fewest": 2}
    fit = cross_fit(as_signals(labelled(n, seed, share=share)), few)
    assert all(np.isfinite(stated).all() for stated in fit.confidences.values())


# --- the parts -------------------------------------------------------------------------------------


def test_signals_are_kept_where_they_vary_a_missing_value_being_one_of_its_own():
    X = np.array([[1, 2, np.nan, np.nan, 5], [1, 3, np.nan, 4, 5.0]])
    assert list(VaryingSignals().fit(X).kept_) == [False, True, False, True, False]
    assert VaryingSignals().fit(X[:, :1]).transform(X[:, :1]).shape == (2, 1)


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=2, max_size=40))
def test_the_threshold_is_the_best_of_all(rows):
    scores = np.array([score for score, _ in rows], float)
    right = np.array([truth for _, truth in rows])
    threshold = best_threshold(scores, right)
    levels = np.unique(scores)
    if len(levels) < 2:
        assert threshold is None
        return
    tried = [HMR((scores > (a + b) / 2).astype(float), right) for a, b in zip(levels, levels[1:], strict=False)]
    assert HMR((scores > threshold).astype(float), right) == pytest.approx(max(tried))


def test_a_threshold_by_hand():
    # above 2.5: one of two right answers and no wrong one (R_U .5, R_O 1); above 1.5 both and one of two wrong (1, .5)
    scores, right = np.array([1.0, 2, 3, 2]), np.array([False, True, True, False])
    assert best_threshold(scores, right) == 1.5


# --- runs ------------------------------------------------------------------------------------------


def entries(frame, refused=("r1",)):
    nugget = Nugget(nugget_id="n1", passage_id="p1", quotes=["x"], claim="x", entailment=0.9, verified=True)
    rows = [(qid, answer, 1.0) for qid, answer in zip(frame["qid"], frame["answer"], strict=True)]
    rows += [(qid, None, 0.0) for qid in refused]
    return [
        RunEntry(
            run="four-pass", qid=qid, answer=answer, confidence=stated, nuggets=[nugget], passage_run="PG-2", origin="o"
        )
        for qid, answer, stated in rows
    ]


def test_fitted_runs_hold_the_studied_answers_and_nuggets_and_refusals_at_0():
    frame = labelled()
    studied = entries(frame)
    filed, fit = fit_confidence(studied, frame, SETTINGS)
    assert list(dict.fromkeys(entry.run for entry in filed)) == fitted_runs(SETTINGS)
    for run, stated in fit.confidences.items():
        of = [entry for entry in filed if entry.run == run]
        assert [(entry.qid, entry.answer, entry.nuggets) for entry in of] == [
            (entry.qid, entry.answer, entry.nuggets) for entry in studied
        ]
        assert [entry.confidence for entry in of] == [*stated, 0.0]


def test_an_answer_without_another_question_to_fit_on_is_missing():
    frame = labelled().iloc[:1]
    filed, _ = fit_confidence(entries(frame), frame, SETTINGS)
    assert {entry.qid for entry in filed} == {"r1"}


def test_signals_of_other_answers_are_refused():
    frame = labelled()
    with pytest.raises(CalibragError, match="same answers .*q003"):
        fit_confidence(
            entries(frame.assign(answer=frame["answer"].mask(frame["qid"] == "q003", "other"))), frame, SETTINGS
        )


def test_a_question_in_two_rows_and_an_infinite_signal_are_refused():
    frame = labelled(20)
    with pytest.raises(CalibragError, match="one row of signals .*q000"):
        as_signals(pd.concat([frame, frame.iloc[:1]]))
    with pytest.raises(CalibragError, match="infinite number in noise"):
        as_signals(frame.assign(noise=np.inf))


def test_a_leak_is_an_error_of_calibrag():
    assert issubclass(LeakError, CalibragError)


def test_a_calibration_never_turns_the_order_of_scores_around(monkeypatch):
    signals, right = pd.DataFrame({"s": np.arange(40.0)}), np.arange(40) >= 20
    settings = ("logistic", {"C": [1.0]}, 3, 2, "sigmoid", 19)
    groups = [str(n) for n in range(40)]
    assert FittedConfidence(*settings).fit(signals, right, groups).reason_ is None
    # what the inner folds learnt misleads on the answers that they hold out
    monkeypatch.setattr(fitted_models, "cross_val_predict", lambda *_, **__: np.where(right, -1.0, 1.0))
    model = FittedConfidence(*settings).fit(signals, right, groups)
    assert model.reason_ == "held-out scores do not rise with right answers"
    assert set(model.confidence(signals)) == {0.5} and set(model.sharpened(signals)) == {0.5}
    assert (model.chosen_, model.log_loss_, model.threshold_, model.weights(signals, right)) == ({}, None, None, {})
