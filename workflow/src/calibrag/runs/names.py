"""Names of the answer runs that are no rules over traces; those that are stand in ``answer_runs.ANSWER_RUNS``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JUDGE, CAPPED = "model-as-judge", "capped-self-confidence"
"""Runs that ask the model again, see `asking`."""

BASE_RATE = "base-rate"
"""The run whose confidence is the share of right answers in the other folds."""


def fitted_runs(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the fitted runs: two for each model, ``-sharp`` files 0 and 1 alone, and the base rate.

    Parameters
    ----------
    settings
        The block ``confidence.fitted`` of the configuration.
    """
    return [f"fitted-{model}{end}" for model in settings["models"] for end in ("", "-sharp")] + [BASE_RATE]
