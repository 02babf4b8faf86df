"""Folds of questions for cross-validation: equal questions lie in one fold, and each question in exactly one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from calibrag.errors import LeakError

COLUMNS = ("qid", "group", "fold")

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Row numbers of the training part and of the test part."""


def assign_folds(groups: Sequence[str], right: NDArray[np.bool_], folds: int, seed: int) -> NDArray[np.int_]:
    """Return the fold of each row, from 1; groups stay whole, and folds have about the same share of right answers.

    There are fewer folds where there are fewer groups. Shares are balanced where both classes have two answers or more.

    Raises
    ------
    LeakError
        There are fewer than two groups: nothing could be fitted on other questions.
    """
    groups = np.asarray(groups, dtype=object)
    number = min(folds, len(set(groups)))
    if number < 2:
        raise LeakError(f"folds need two questions that differ, or more (got {number}); ask the system more questions")
    classes = np.bincount(right.astype(int), minlength=2)
    kind = StratifiedGroupKFold if classes.min() >= 2 and classes.max() >= number else GroupKFold
    splitter = kind(n_splits=number, shuffle=True, random_state=seed)
    assigned = np.zeros(len(groups), int)
    # a balanced split of few groups may leave a fold empty, which is none
    tests = [test for _, test in _quiet_split(splitter, right, groups) if len(test)]
    for fold, test in enumerate(tests, start=1):
        assigned[test] = fold
    return assigned


def _quiet_split(splitter, right, groups) -> list[Split]:
    with warnings.catch_warnings():
        # it warns where a class has fewer answers than there are folds, which `fitted_models` provides for
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(np.zeros(len(right)), right, groups))


def splits(folds: NDArray[np.int_]) -> list[Split]:
    """Return (train, test) row numbers for each fold in its order."""
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]


def read_folds(path: str | Path) -> pd.DataFrame:
    """Return the columns ``COLUMNS`` of a file of folds."""
    return pd.read_csv(path, dtype={"qid": object, "group": object}, keep_default_na=False)


def check_folds(folds: pd.DataFrame, qids: Iterable[str]) -> None:
    """Raise unless each of the questions has exactly one fold, and no group of equal questions has two.

    Parameters
    ----------
    folds
        The columns ``COLUMNS``.
    qids
        The questions that have a fitted confidence.

    Raises
    ------
    LeakError
        Names the questions or groups; a table made from such confidences would measure what was learnt by heart.
    """
    advice = "remove the confidence folder of the system and run the workflow again"
    counts = folds["qid"].value_counts()
    wanted = set(qids)
    if twice := sorted(counts[counts > 1].index):
        raise LeakError(f"a question must have one fold ({len(twice)} have more, such as {twice[0]}); {advice}")
    if without := sorted(wanted - set(counts.index)):
        raise LeakError(f"a question must have a fold ({len(without)} have none, such as {without[0]}); {advice}")
    if strange := sorted(set(counts.index) - wanted):
        raise LeakError(
            f"{len(strange)} questions of the folds have no fitted confidence, such as {strange[0]}; {advice}"
        )
    apart = folds.groupby("group")["fold"].nunique()
    if parted := sorted(apart[apart > 1].index):
        raise LeakError(f"equal questions must share a fold ({len(parted)} do not, such as {parted[0]!r}); {advice}")
