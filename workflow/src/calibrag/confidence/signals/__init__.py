"""Signals: numbers of a question's record that may tell whether its answer is right (spec/bitem section 7, 4).

Each is a function with the name of its column, and declares what traces must have recorded for it. None sees a label.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrag.confidence.signals import agreement, effort, evidence
from calibrag.confidence.signals.agreement import AGREES, agrees_with_pass
from calibrag.confidence.signals.case import Case, Signal
from calibrag.trace import Trace

__all__ = ["SIGNALS", "TELEMETRY", "Case", "Signal", "signal_named", "signals_of", "telemetry"]

TELEMETRY = "telemetry_"
"""Prefix of the signals that are made from the names in ``Trace.telemetry``."""

SIGNALS: dict[str, Signal] = {each.name: each for part in (effort, evidence, agreement) for each in part.SIGNALS}
"""Name -> signal, those that any traces may have."""


def signals_of(traces: Iterable[Trace]) -> dict[str, Signal]:
    """Return name -> signal: all of ``SIGNALS``, agreement with each pass where there are several, and telemetry."""
    numbers, names = set(), set()
    for trace in traces:
        numbers.add(trace.pass_number)
        names |= trace.telemetry.keys()
    each_pass = map(agrees_with_pass, sorted(numbers)) if len(numbers) > 1 else ()
    return SIGNALS | {each.name: each for each in (*each_pass, *map(telemetry, sorted(names)))}


def signal_named(name: str) -> Signal:
    """Return the signal that fills a column.

    Raises
    ------
    KeyError
        No signal has that name.
    """
    if name.startswith(TELEMETRY):
        return telemetry(name.removeprefix(TELEMETRY))
    if name.startswith(AGREES):
        return agrees_with_pass(int(name.removeprefix(AGREES)))
    return SIGNALS[name]


def telemetry(name: str) -> Signal:
    """Return the signal of a number of the telemetry, such as ``telemetry_perplexity``, of the last pass that has it.

    A log may count something for one kind of pass alone, which files few answers or none.
    """

    def value(case: Case) -> float | None:
        # what no trace holds is missing, for there is no default
        return next((trace.telemetry[name] for trace in reversed(case.ran) if name in trace.telemetry), None)

    measures = f"What the log calls {name}, of the last pass that has it; missing where none has."
    return Signal(TELEMETRY + name, measures, "as logged", None, frozenset(), "all passes", value)
