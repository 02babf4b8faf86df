"""Signals of evidence: nuggets, their entailment, and what the gate said.

A nugget is in force when it is verified and not retracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from calibrag.confidence.signals.case import Case, in_pass, signal
from calibrag.normalisation import answer_key
from calibrag.trace import AnswerEvent, GateEvent, Nugget, RecordEvent, Submission, Trace


@in_pass("nuggets", "more", {"nuggets"})
def nuggets_verified(trace: Trace) -> int:
    """Nuggets in force: verified, and not retracted."""
    return len(_in_force(trace))


@in_pass("claims", "less", {"nuggets"})
def nuggets_rejected(trace: Trace) -> int:
    """Claims that were put forward and not verified."""
    return sum(isinstance(event, RecordEvent) and not event.verified for event in trace.events)


@in_pass("nuggets", "less", {"nuggets"})
def nuggets_retracted(trace: Trace) -> int:
    """Nuggets that were withdrawn."""
    return sum(nugget.retracted for nugget in trace.nuggets)


@in_pass("0 to 1", "more", {"nuggets"})
def entailment_min(trace: Trace) -> float | None:
    """Weakest entailment of the nuggets in force; missing without one."""
    return min((nugget.entailment for nugget in _in_force(trace)), default=None)


@in_pass("0 to 1", "more", {"nuggets"})
def entailment_mean(trace: Trace) -> float | None:
    """Mean entailment of the nuggets in force; missing without one."""
    entailments = [nugget.entailment for nugget in _in_force(trace)]
    return fmean(entailments) if entailments else None


@in_pass("0 to 1", "more", {"nuggets"})
def entailment_max(trace: Trace) -> float | None:
    """Strongest entailment of the nuggets in force; missing without one."""
    return max((nugget.entailment for nugget in _in_force(trace)), default=None)


@in_pass("passages", "more", {"nuggets"})
def supporting_passages(trace: Trace) -> int:
    """Passages that nuggets in force are of."""
    return len({nugget.passage_id for nugget in _in_force(trace)})


@signal("all passes", "passages", "more", {"nuggets"})
def supporting_passages_of_all_passes(case: Case) -> int:
    """Passages that nuggets in force of any pass are of."""
    return len({nugget.passage_id for trace in case.ran for nugget in _in_force(trace)})


@signal("filing pass", "0 to 1", "more", {"gate", "nuggets"})
def answer_overlap(case: Case) -> float | None:
    """Share of the answer's words in a claim, the mean over the nuggets that its confidence was computed from; missing
    without one."""
    shares = [value for name, value in _numbers(case).items() if name.endswith(" overlap")]
    return fmean(shares) if shares else None


@in_pass("answers", "less", {"gate"})
def turned_back(trace: Trace) -> int:
    """Answers that the gate turned back."""
    return len(_turned_back(trace))


@signal("all passes", "answers", "less", {"gate"})
def turned_back_of_all_passes(case: Case) -> int:
    """Answers that the gate turned back, over all passes."""
    return sum(len(_turned_back(trace)) for trace in case.ran)


@signal("filing pass", "0 or 1", "less", {"gate"})
def filed_turned_back(case: Case) -> bool | None:
    """Whether the filed answer itself was turned back."""
    return None if case.filed is None else not case.filed.accepted


@signal("filing pass", "0 or 1", "less", {"gate"})
def fallback(case: Case) -> bool | None:
    """Whether the filing pass had the answer from an earlier one."""
    return None if case.filed is None else case.filed.origin == "fallback"


def _in_force(trace: Trace) -> list[Nugget]:
    return [nugget for nugget in trace.nuggets if nugget.verified and not nugget.retracted]


def _turned_back(trace: Trace) -> Sequence[Submission]:
    return [s for s in trace.submissions if s.text is not None and not s.accepted]


def _numbers(case: Case) -> dict[str, float]:
    """Return what the confidence of the filed submission was computed from; {} where the trace has no such event."""
    for event, ruling in pairwise(case.filing.events):
        if (
            isinstance(event, AnswerEvent)
            and isinstance(ruling, GateEvent)
            and case.filed is not None
            and event.text is not None
            and (event.turn, ruling.accepted) == (case.filed.turn, case.filed.accepted)
            and answer_key(event.text) == case.key
        ):
            return ruling.numbers
    return {}


SIGNALS = (
    nuggets_verified, nuggets_rejected, nuggets_retracted, entailment_min, entailment_mean, entailment_max,
    supporting_passages, supporting_passages_of_all_passes, answer_overlap, turned_back, turned_back_of_all_passes,
    filed_turned_back, fallback,
)  # fmt: skip
