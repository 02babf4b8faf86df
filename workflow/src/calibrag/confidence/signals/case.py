"""What a signal is, and what it is taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec

from calibrag.normalisation import answer_key
from calibrag.trace import Aspect, RunEntry, Submission, Trace

Surer = Literal["more", "less"]
Where = Literal["filing pass", "first pass", "all passes", "answer"]


class Case(msgspec.Struct, frozen=True, dict=True):
    """A question with its filed answer and all passes over it, and nothing that says whether the answer is right.

    Parameters
    ----------
    question
        Its text.
    entry
        The filed answer, which is no refusal.
    traces
        Of all passes, in their order.
    judged
        What the model filed when it was asked again for a confidence; None where it was not.
    """

    question: str
    entry: RunEntry
    traces: Sequence[Trace]
    judged: RunEntry | None = None

    @cached_property
    def key(self) -> str:
        """Return the key under which answers equal to the filed one meet."""
        return answer_key(self.entry.answer)

    @cached_property
    def ran(self) -> list[Trace]:
        """Return the passes that ran, those that ended in a fault included."""
        return [trace for trace in self.traces if trace.status != "skipped"]

    @cached_property
    def filing(self) -> Trace | None:
        """Return the pass that the answer was filed from; None where no pass has it."""
        return next((trace for trace in self.ran if trace.pass_number == self.entry.pass_number), None)

    @cached_property
    def filed(self) -> Submission | None:
        """Return the submission of the filing pass that was filed: the accepted one of those with the answer, or the
        last; None where there is none."""
        if self.filing is None:
            return None
        same = [s for s in self.filing.submissions if s.text is not None and answer_key(s.text) == self.key]
        return next((s for s in same if s.accepted), same[-1] if same else None)


class Signal(NamedTuple):
    """A number of a question's record that may tell whether its answer is right.

    Parameters
    ----------
    name
        The column that it fills.
    measures
        What it measures, as a sentence.
    unit
        Of its values.
    surer
        Whether more or less of it is expected to go with right answers; None where nothing is.
    reads
        What traces must have recorded; where one of the passes read lacks any of it, the signal is missing.
    where
        Whether it is of the filing pass, of the first, of all that ran, or of answer and question alone.
    value
        Takes a case; None where the signal is not defined, such as the mean of no number.
    """

    name: str
    measures: str
    unit: str
    surer: Surer | None
    reads: frozenset[Aspect]
    where: Where
    value: Callable[[Case], float | None]

    def of(self, case: Case) -> float | None:
        """Return the signal of a case; None where it is missing."""
        match self.where:
            case "filing pass":
                read = [case.filing]
            case "first pass":
                read = case.ran[:1]
            case "all passes":
                read = case.ran
            case "answer":
                read = []
        if any(trace is None or not trace.holds(*self.reads) for trace in read):
            return None
        value = self.value(case)
        return None if value is None else float(value)


def signal(
    where: Where, unit: str, surer: Surer | None = None, reads: Iterable[Aspect] = ()
) -> Callable[[Callable[[Case], float | None]], Signal]:
    """Return a decorator that makes a signal of a function: named as it is, and measuring what its docstring says."""

    def declare(value: Callable[[Case], float | None]) -> Signal:
        measures = " ".join((value.__doc__ or "").split())
        return Signal(value.__name__, measures, unit, surer, frozenset(reads), where, value)

    return declare


def in_pass(
    unit: str, surer: Surer | None = None, reads: Iterable[Aspect] = ()
) -> Callable[[Callable[[Trace], float | None]], Signal]:
    """Return a decorator as `signal`, for a function of the filing pass alone."""

    def declare(value: Callable[[Trace], float | None]) -> Signal:
        made = signal("filing pass", unit, surer, reads)(value)
        return made._replace(value=lambda case: value(case.filing))

    return declare
