"""A control for leaks: confidence fitted in the same way on permuted labels, which must find nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from calibrag.confidence.fitted import as_signals, hold_out
from calibrag.evaluation.answer_measures import parse_measure

COLUMNS = ("run", "permutation", "n", "n_right", "AUROC", "accHMR", "gain")
SUMMARY = (
    "collection", "system", "run", "n", "n_right", "permutations", "AUROC", "AUROC_permuted", "AUROC_permuted_low",
    "AUROC_permuted_high", "p", "gain", "gain_permuted", "gain_permuted_low", "gain_permuted_high",
)  # fmt: skip


def permute_labels(
    frame: pd.DataFrame, settings: Mapping[str, Any], watched: Callable[[Iterable[int]], Iterable[int]] = iter
) -> pd.DataFrame:
    """Return one row a fitted run and permutation, the columns ``COLUMNS``; permutation 0 has the labels as they are.

    Labels are exchanged between answers and the whole of `hold_out` is done again. Without a leak the AUROC is then .5
    on average, and the ``gain``, the accHMR less that of the constant .5, at most 0 on average: a confidence that knows
    nothing gives R_O + R_U = 1, so its HMR is .5 at most. AUROC and gain are NaN where right or wrong answers are
    missing, for R_O or R_U is then 1 for free; there are no rows where there is nothing to fit.

    Parameters
    ----------
    frame
        From `extraction.read_signals`.
    settings
        The block ``confidence.fitted`` of the configuration.
    watched
        Passes the permutations on, to tell how many are done.
    """
    answers = as_signals(frame)
    auroc, acc_hmr = parse_measure("AUROC"), parse_measure("accHMR")
    rows = []
    for permutation in watched(range(settings["permutations"] + 1)):
        right = answers.right
        if permutation:
            right = np.random.default_rng([settings["folds"]["seed"], permutation]).permutation(right)
        confidences, fold, _ = hold_out(answers._replace(right=right), settings)
        if not fold.any():
            break
        chance = float(acc_hmr(np.full(len(right), 0.5), right))
        for run, stated in confidences.items():
            found = float(acc_hmr(stated, right))
            counts, area = (len(right), int(right.sum())), float(auroc(stated, right))
            rows.append((run, permutation, *counts, area, found, np.nan if np.isnan(area) else found - chance))
    return pd.DataFrame(rows, columns=COLUMNS)


def summarise_permutations(permuted: pd.DataFrame) -> pd.DataFrame:
    """Return one row a collection, system and run, the columns ``SUMMARY``.

    AUROC and gain as they are stand beside mean, lowest and highest of those of the permuted labels.
    ``p`` is the share of permutations, the labels as they are among them, whose AUROC is at least that of the labels as
    they are; NaN where it is undefined.
    """
    rows = []
    for keys, of in permuted.groupby(["collection", "system", "run"], sort=False):
        real, mixed = of[of["permutation"] == 0].iloc[0], of[of["permutation"] > 0]
        row = dict(zip(("collection", "system", "run"), keys, strict=True))
        row |= {"n": real["n"], "n_right": real["n_right"], "permutations": len(mixed)}
        for name in ("AUROC", "gain"):
            values = mixed[name]
            row |= {name: real[name], f"{name}_permuted": values.mean()}
            row |= {f"{name}_permuted_low": values.min(), f"{name}_permuted_high": values.max()}
        defined = not np.isnan(real["AUROC"])
        row["p"] = (1 + (mixed["AUROC"] >= real["AUROC"]).sum()) / (1 + len(mixed)) if defined else np.nan
        rows.append(row)
    return pd.DataFrame(rows, columns=SUMMARY)
