"""What the columns of the confidence study's tables are called, and what their captions say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from calibrag.confidence.comparison import DIFFERENCES, MEASURES
from calibrag.confidence.transfer import MEASURES as TRANSFERRED

CONFIDENCE = {
    "collection": "collection",
    "system": "system",
    "rank": "rank",
    "source": "confidence",
    "n": "n",
    "n_missing": "missing",
    "n_refused": "refused",
    "n_right": "right",
    **{name: name for name in MEASURES},
    **{
        column: heading
        for name in DIFFERENCES
        for column, heading in ((f"{name}_difference", f"{name} - rule"), (f"{name}_p", "p"))
    },
    "beyond_next": "beyond the next",
}
TRANSFER = {
    "system": "system",
    "fitted_on": "fitted on",
    "tested_on": "tested on",
    "run": "confidence",
    "n": "n",
    "n_left_out": "left out",
    "n_right": "right",
    "signals": "signals",
    "instead": "instead of a model",
    **{
        column: heading
        for name in TRANSFERRED
        for column, heading in ((name, name), (f"{name}_within", "within"), (f"{name}_difference", "difference"))
    },
}
PERMUTED = {
    "collection": "collection",
    "system": "system",
    "run": "confidence",
    "n": "n",
    "n_right": "right",
    "permutations": "permutations",
    "AUROC": "AUROC",
    "AUROC_permuted": "AUROC, permuted labels",
    "p": "p",
    "gain": "gain",
    "gain_permuted": "gain, permuted labels",
}


def answered(table: pd.DataFrame, collection: str = "collection") -> dict[str, int]:
    """Return the answers by collection, for captions."""
    return {name: int(rows["n"].max()) for name, rows in table.groupby(collection, sort=False)}


def describe_fitting(settings: Mapping[str, Any]) -> str:
    """Return how confidence was fitted, in sentences.

    Parameters
    ----------
    settings
        The block ``confidence.fitted`` of the configuration.
    """
    folds, models = settings["folds"], " and ".join(settings["models"])
    return (
        f"Fitted confidence ({models}): {folds['outer']} folds of questions, equal questions in one (seed "
        f"{folds['seed']}); preprocessing, hyperparameters, {settings['calibration']} calibration and threshold are "
        f"learnt from the other folds, by {folds['inner']} folds among them; with fewer than {settings['fewest']} "
        "right or wrong answers there the base rate is filed. Sharp: 1 above the threshold with the best HMR in the "
        "other folds, else 0. Base rate: accuracy of the other folds; it is higher where a fold itself has fewer right "
        "answers, so that its AUROC lies below .5. Intervals take the fitted models as given."
    )


def describe_comparison(studied: str, tests: Mapping[str, Any]) -> str:
    """Return what the table of confidences compares, in sentences."""
    return (
        f"All on the answers of {studied}, whose own confidence is the rule; refusals have 0 throughout; missing: "
        "answers for which there is no such confidence, so that the rule is compared on the others. p: "
        f"pair-exchange test, {tests['trials']:,} trials (seed {tests['seed']}), not corrected for the number of "
        "rows. Rank by accHMR, of those with a confidence of every answer; beyond the next: the interval of the "
        "difference to the next in rank leaves out 0, not corrected for having been ranked by the same answers. "
        "Resamples without a value, such as AUROC where no answer is right, are left out of its interval; that of "
        "ECE lies high, since resamples look less calibrated than their answers."
    )


def describe_permutations(settings: Mapping[str, Any]) -> str:
    """Return what the control shows, in sentences."""
    return (
        f"The labels right and wrong were exchanged between answers {settings['permutations']} times (seed "
        f"{settings['folds']['seed']}), and all was fitted again: mean, and in brackets lowest and highest. Without "
        "a leak the AUROC is .5 on average and the gain, accHMR less that of the constant .5, at most 0. p: share "
        "of labellings, the true one among them, with an AUROC of at least the true one's."
    )


def describe_transfer() -> str:
    """Return what the table of transfer shows, in sentences."""
    return (
        "Fitted on all answers of one collection and filed for those of another, by the signals that both have; "
        "left out: answers to questions that both collections ask. Within: the same answers by confidence fitted "
        "within the tested collection and held out by question; difference: transferred less within. Refusals have "
        "no part."
    )
