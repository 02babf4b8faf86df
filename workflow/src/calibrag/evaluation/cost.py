"""What passes and runs cost, question by question and on average (spec/bitem section 7, 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from calibrag.trace import Aspect, ModelEvent, Trace


class Quantity(NamedTuple):
    """What is counted of a pass, and the aspect that its trace must have recorded for it."""

    aspect: Aspect
    of: Callable[[Trace], float | None]


def tokens_of(trace: Trace) -> int | None:
    """Return the tokens of a pass; None where a server does not tell those of a call, which ``usage`` leaves out."""
    told = all(event.tokens is not None for event in trace.events if isinstance(event, ModelEvent))
    return trace.usage.tokens if told else None


QUANTITIES: dict[str, Quantity] = {
    "model_calls": Quantity("turns", lambda trace: trace.usage.model_calls),
    "cached_calls": Quantity("turns", lambda trace: trace.usage.cached_calls),
    "tokens": Quantity("tokens", tokens_of),
    "searches": Quantity("searches", lambda trace: trace.usage.searches + trace.usage.entity_searches),
    "tool_calls": Quantity("calls", lambda trace: trace.usage.tool_calls),
    "rejected_calls": Quantity("calls", lambda trace: trace.usage.rejected_calls),
    "entailments": Quantity("nuggets", lambda trace: trace.usage.entailments),
    "seconds": Quantity("seconds", lambda trace: trace.usage.seconds),
    "cost": Quantity("tokens", lambda trace: trace.usage.cost),
}
"""Name -> quantity; ``searches`` are of both kinds, ``tool_calls`` hold the rejected ones, ``cost`` is in the currency
of the configured prices."""

RUN = "all"
"""Where a pass is named: all passes of a question together."""


def measure_cost(traces: Mapping[str, Sequence[Trace]], asked: Iterable[str]) -> pd.DataFrame:
    """Return one row a pass, and one for all of a question's passes together: pass, n, n_missing, n_skipped, n_error,
    then the mean of each of `QUANTITIES` over the questions that ran it.

    ``n`` counts the questions in which the pass ran, those with a fault (``n_error``) among them; ``n_skipped`` those
    in which it was not wanted; ``n_missing`` those without a trace of it. A quantity is None unless all n traces tell
    it. What was replayed from a cache counts as what it took when it was made.

    Parameters
    ----------
    traces
        qid -> its passes.
    asked
        The questions that were asked.
    """
    qids = list(asked)
    numbers = sorted({trace.pass_number for passes in traces.values() for trace in passes})
    rows = []
    for number in [*map(str, numbers), RUN]:
        chosen = [[t for t in traces.get(qid, ()) if number in (RUN, str(t.pass_number))] for qid in qids]
        ran = [[trace for trace in passes if trace.status != "skipped"] for passes in chosen]
        counted = [passes for passes in ran if passes]
        row = {
            "pass": number,
            "n": len(counted),
            "n_missing": sum(not passes for passes in chosen),
            "n_skipped": sum(bool(passes) and not runs for passes, runs in zip(chosen, ran, strict=True)),
            "n_error": sum(any(trace.status == "error" for trace in passes) for passes in counted),
        }
        rows.append(row | {name: _mean(quantity, counted) for name, quantity in QUANTITIES.items()})
    return pd.DataFrame(rows).astype(dict.fromkeys(QUANTITIES, float))


def _mean(quantity: Quantity, questions: Sequence[Sequence[Trace]]) -> float | None:
    values = [_told(quantity, trace) for passes in questions for trace in passes]
    if not values or None in values:
        return None
    return sum(values) / len(questions)


def _told(quantity: Quantity, trace: Trace) -> float | None:
    return quantity.of(trace) if trace.holds(quantity.aspect) else None
