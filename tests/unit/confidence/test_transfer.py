"""Confidence fitted on one collection is filed for new questions of another, by the signals that both have."""

import numpy as np
import pytest
from labelled_signals import SETTINGS, labelled
from sklearn.metrics import roc_auc_score

from calibrag.confidence.fitted import as_signals, cross_fit, fit_models
from calibrag.confidence.transfer import common_signals, transfer_confidence, transfer_systems
from calibrag.records import write_jsonl
from calibrag.runs.names import fitted_runs
from calibrag.trace import RunEntry

RESAMPLING = {"resamples": 300, "level": 0.95, "seed": 13}
ONLY_LOGISTIC = SETTINGS | {"models": {"logistic": {"C": [1.0]}}}
FIRST = labelled(100, seed=1)
# asks ten of the questions of the first collection, and has no signal "noise"
SECOND = labelled(80, seed=2, share=0.6).drop(columns="noise")
SECOND["group"] = [group if i < 10 else f"other {group}" for i, group in enumerate(SECOND["group"])]


def runs(frame):
    fit = cross_fit(as_signals(frame), ONLY_LOGISTIC)
    return [
        RunEntry(run=run, qid=qid, answer="x", confidence=float(value), nuggets=[], passage_run="PG-2", origin="o")
        for run, stated in fit.confidences.items()
        for qid, value in zip(frame["qid"], stated, strict=True)
    ]


@pytest.fixture(scope="module")
def table():
    return transfer()


def transfer(first=FIRST, second=SECOND):
    frames = {"one": first, "two": second}
    fitted = {name: runs(frame) for name, frame in frames.items()}
    table = transfer_confidence(frames, fitted, "s", ONLY_LOGISTIC, RESAMPLING)
    return table.set_index(["fitted_on", "tested_on", "run"])


def test_every_ordered_pair_of_collections_has_every_fitted_run(table):
    assert {key[:2] for key in table.index} == {("one", "two"), ("two", "one")}
    assert list(table.loc[("one", "two")].index) == fitted_runs(ONLY_LOGISTIC)


def test_questions_of_the_other_collection_are_left_out_and_counted(table):
    row = table.loc[("one", "two", "fitted-logistic")]
    assert (row["n"], row["n_left_out"], row["n_fitted"]) == (70, 10, 100)
    # of the first, ten rows ask what the second asks, the one of a pair twice
    assert table.loc[("two", "one", "fitted-logistic"), "n_left_out"] == 10


def test_the_numbers_are_those_of_a_model_fitted_by_hand(table):
    row = table.loc[("one", "two", "fitted-logistic")]
    names = ["filed_confidence", "agreement", "sometimes", "constant"]
    assert common_signals(FIRST.drop(columns=list(FIRST)[:5]), SECOND.drop(columns=list(SECOND)[:5])) == names
    source = as_signals(FIRST)
    [model] = fit_models(source._replace(signals=FIRST[names]), ONLY_LOGISTIC).values()
    stated, right = model.confidence(SECOND[names].iloc[10:]), SECOND["right"].iloc[10:]
    assert row["AUROC"] == pytest.approx(roc_auc_score(right, stated))
    assert row["Brier"] == pytest.approx(np.mean((stated - right) ** 2))
    own = cross_fit(as_signals(SECOND), ONLY_LOGISTIC).confidences["fitted-logistic"][10:]
    assert row["AUROC_within"] == pytest.approx(roc_auc_score(right, own))
    assert row["AUROC_difference"] == pytest.approx(row["AUROC"] - row["AUROC_within"])
    assert row["AUROC_difference_low"] <= row["AUROC_difference"] <= row["AUROC_difference_high"]


def test_a_collection_with_few_right_answers_gives_its_base_rate_and_says_so():
    row = transfer(FIRST.assign(right=np.arange(100) < 2)).loc[("one", "two", "fitted-logistic")]
    assert row["instead"] == "2 right answers, fewer than 3" and row["AUROC"] == 0.5


def test_nothing_to_test_on_is_said_and_has_no_measures():
    table = transfer(second=FIRST)
    assert (table["n"] == 0).all() and set(table["instead"]) == {"nothing to fit or test on"}
    assert table["AUROC"].isna().all()


def test_systems_stand_below_one_another_from_their_files(tmp_path):
    files = []
    for collection, frame in (("one", FIRST), ("two", SECOND)):
        for system in ("s", "t"):
            signals, fitted = tmp_path / f"{collection}-{system}.csv", tmp_path / f"{collection}-{system}.jsonl"
            frame.to_csv(signals, index=False)
            write_jsonl(fitted, runs(frame))
            files.append((signals, fitted))
    table = transfer_systems(*zip(*files, strict=True), ["one", "two"], ["s", "t"], ONLY_LOGISTIC, RESAMPLING)
    assert list(table["system"].unique()) == ["s", "t"] and len(table) == 2 * 2 * 3
