"""Made-up signals of answers, of which it is known what they tell."""

import numpy as np
import pandas as pd

SETTINGS = {
    "folds": {"outer": 4, "inner": 3, "seed": 19},
    "fewest": 3,
    "calibration": "sigmoid",
    "models": {
        "logistic": {"C": [0.1, 1.0]},
        "boosting": {"learning_rate": [0.2], "max_iter": [10, 20], "max_leaf_nodes": [3], "min_samples_leaf": [5]},
    },
    "permutations": 3,
}


def labelled(n=120, seed=1, strength=2.0, share=0.4):
    """Return signals as extract_signals gives them: one that tells right from wrong, and some that do not."""
    draw = np.random.default_rng(seed)
    right = draw.random(n) < share
    agreeing = np.round(right * strength + draw.normal(size=n), 2)
    return pd.DataFrame(
        {
            "qid": [f"q{i:03d}" for i in range(n)],
            # every tenth question is asked twice
            "group": [f"question {i - (i % 10 == 9)}" for i in range(n)],
            "answer": [f"answer {i}" for i in range(n)],
            "right": right,
            "confidence": np.where(agreeing > 1, 1.0, 0.5),
            "filed_confidence": draw.random(n).round(2),
            "agreement": agreeing,
            "noise": draw.normal(size=n).round(3),
            "sometimes": np.where(draw.random(n) < 0.3, np.nan, draw.normal(size=n).round(3)),
            "constant": 1.0,
            "never": np.nan,
        }
    )
