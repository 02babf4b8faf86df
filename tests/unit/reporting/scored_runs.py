"""Answers by question of made-up runs, and the tables that follow from them, for tests of figures and pages."""

from __future__ import annotations

import numpy as np
import pandas as pd

BASELINES = {"constant-50": 0.5, "always-100": 1.0, "always-0": 0.0}
RUNS = ("AC-1", "AC-2", "four-pass", "fitted-logistic", "fitted-logistic-sharp", *BASELINES)
MEASURES = ["accuracy", "R_O", "R_U", "HMR", "accHMR", "ECE@10", "AUROC"]
RESAMPLING = {"resamples": 200, "level": 0.95, "seed": 13}


def scores(collections: dict[str, tuple[int, float]], systems=("bitem",), runs=RUNS, seed=5) -> pd.DataFrame:
    """Return answers by question: collection -> how many questions, and which share of their answers is right."""
    rng = np.random.default_rng(seed)
    frames = []
    for collection, (n, share) in collections.items():
        for system in systems:
            right = np.arange(n) < round(n * share)
            # how easy a question looks, the same to all runs
            ease = np.clip(0.45 + 0.2 * right + 0.2 * rng.standard_normal(n), 0.02, 0.98)
            for run in runs:
                frames.append(one_run(collection, system, run, right, _stated(run, ease, rng)))
    return pd.concat(frames, ignore_index=True)


def _stated(run, ease, rng):
    if run in BASELINES:
        return np.full(len(ease), BASELINES[run])
    if run == "four-pass":
        return np.round(2 * ease) / 2
    if run.endswith("-sharp"):
        return (ease > 0.5).astype(float)
    return np.clip(ease + 0.1 * rng.standard_normal(len(ease)), 0, 1)


def one_run(collection, system, run, right, stated) -> pd.DataFrame:
    """Return the rows of one run, in the layout of evaluation/answers.csv."""
    n = len(right)
    kinds = np.array(["bridge", "comparison", "multi-hop"])[np.arange(n) % 3]
    return pd.DataFrame(
        {
            "collection": collection, "system": system, "run": run, "qid": [f"q{i}" for i in range(n)],
            "type": kinds, "answer": "x", "right": right, "label": "match", "em": right.astype(int),
            "f1": right.astype(float), "confidence": stated, "refused": False, "missing": False,
            "error": pd.Series([None] * n, dtype=object), "supported": True, "nuggets": 1, "nugget_precision": 0.5,
        }
    )  # fmt: skip


def signals(collections, systems=("bitem",), names=("searches", "passes_agreeing", "entropy", "nothing"), seed=3):
    """Return a table of signals; the last has no value."""
    rng = np.random.default_rng(seed)
    rows = []
    for collection, (n, share) in collections.items():
        for system in systems:
            for place, name in enumerate(names):
                value = np.nan if place == len(names) - 1 else float(np.clip(0.55 + 0.15 * rng.standard_normal(), 0, 1))
                half = 0.9 / np.sqrt(n)
                rows.append(
                    {
                        "collection": collection, "system": system, "signal": name, "measures": name, "where": "answer",
                        "unit": "", "surer": "more", "n": n, "n_missing": 0, "n_right": round(n * share), "n_values": 5,
                        "auroc": value, "auroc_low": max(value - half, 0), "auroc_high": min(value + half, 1),
                        "n_undefined": 0, "p": 0.2, "p_adjusted": 0.4, "published": np.nan,
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)
