"""Permuted labels find nothing: an AUROC about .5 and no accHMR beyond that of a constant."""

import numpy as np
import pandas as pd
import pytest
from labelled_signals import SETTINGS, labelled

from calibrag.confidence.fitted import as_signals
from calibrag.confidence.fitted_control import permute_labels, summarise_permutations
from calibrag.confidence.fitted_models import FittedConfidence
from calibrag.evaluation import calibration
from calibrag.runs.names import fitted_runs

QUICK = SETTINGS | {
    "permutations": 8,
    "models": {
        "logistic": {"C": [0.1, 1.0]},
        "boosting": {"learning_rate": [0.2], "max_iter": [20], "max_leaf_nodes": [3], "min_samples_leaf": [5]},
    },
}


@pytest.fixture(scope="module")
def permuted():
    return permute_labels(labelled(200), QUICK)


def test_permuted_labels_find_nothing_and_true_ones_do(permuted):
    assert len(permuted) == 9 * len(fitted_runs(QUICK))
    fitted = permuted[permuted["run"] != "base-rate"]
    for _, of in fitted.groupby("run"):
        true, mixed = of[of["permutation"] == 0].iloc[0], of[of["permutation"] > 0]
        assert true["AUROC"] > 0.8 and true["gain"] > 0.05
        # 80 right and 120 wrong answers: one AUROC has a deviation of .042 by chance, the mean of 8 one of .015
        assert abs(mixed["AUROC"].mean() - 0.5) < 0.06
        assert mixed["AUROC"].between(0.5 - 0.15, 0.5 + 0.15).all()
        assert mixed["gain"].mean() < 0.01 and mixed["gain"].max() < 0.05


def test_the_labels_of_a_permutation_are_the_same_ones_in_another_order(permuted):
    assert set(permuted["n_right"]) == {int(labelled(200)["right"].sum())}
    assert permuted.groupby("run")["AUROC"].nunique().drop("base-rate").min() > 5


def test_the_control_would_see_a_leak():
    """Fitted on the very answers that it is filed for, even noise seems to tell: the control is able to fail."""
    frame = labelled(200)
    right = np.random.default_rng(3).permutation(frame["right"].to_numpy())
    signals = as_signals(
        frame.assign(**{f"noise_{i}": np.random.default_rng(i).normal(size=200) for i in range(20)})
    ).signals
    model = FittedConfidence("logistic", {"C": [100.0]}, 3, 3, "sigmoid", 0).fit(signals, right, frame["qid"])
    assert calibration.auroc(calibration.tally(model.confidence(signals), right)) > 0.65


def test_a_summary_shows_true_labels_beside_permuted_ones():
    rows = [("r", 0, 10, 4, 0.9, 0.3, 0.1), ("r", 1, 10, 4, 0.4, 0.2, 0.0), ("r", 2, 10, 4, 0.9, 0.1, -0.1)]
    frame = pd.DataFrame(rows, columns=["run", "permutation", "n", "n_right", "AUROC", "accHMR", "gain"])
    [row] = summarise_permutations(frame.assign(collection="c", system="s")).to_dict("records")
    assert (row["AUROC"], row["permutations"], row["p"]) == (0.9, 2, pytest.approx(2 / 3))
    assert (row["AUROC_permuted"], row["AUROC_permuted_low"], row["AUROC_permuted_high"]) == pytest.approx(
        (0.65, 0.4, 0.9)
    )
    assert (row["gain"], row["gain_permuted"]) == pytest.approx((0.1, -0.05))


def test_where_no_answer_is_right_the_control_has_no_auroc():
    frame = labelled(40).assign(right=False)
    summary = summarise_permutations(permute_labels(frame, QUICK).assign(collection="c", system="s"))
    assert summary[["AUROC", "AUROC_permuted", "p"]].isna().all().all()


def test_a_single_answer_leaves_nothing_to_permute():
    permuted = permute_labels(labelled(60).iloc[:1], QUICK)
    assert permuted.empty and summarise_permutations(permuted.assign(collection="c", system="s")).empty
