"""Baselines: the answers of another run, all at one confidence, its refusals too.

So one constant c gives HMR = 2c(1-c), at most .5, whatever was answered.
"""

from __future__ import annotations

from calibrag.runs.choices import Choice


def constant_50(choices: dict[str, Choice]) -> dict[str, Choice]:
    """Baseline "constant 50"."""
    return _at(0.5, choices)


def always_100(choices: dict[str, Choice]) -> dict[str, Choice]:
    """Baseline "always 100"."""
    return _at(1.0, choices)


def always_0(choices: dict[str, Choice]) -> dict[str, Choice]:
    """Baseline "always 0"."""
    return _at(0.0, choices)


def _at(confidence: float, choices: dict[str, Choice]) -> dict[str, Choice]:
    return {qid: choice._replace(confidence=confidence) for qid, choice in choices.items()}
