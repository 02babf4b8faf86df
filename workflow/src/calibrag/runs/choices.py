"""What the answer rules share: a pass's attempts, which of them is its answer, and the choice that a rule makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from calibrag.records import Record
from calibrag.trace import Submission, Trace

Traces = Mapping[str, Sequence[Trace]]
"""qid -> the traces of its passes, in their order; a pass that a log lacks is left out."""


class Attempt(NamedTuple):
    """A submission that is no refusal, and the pass that made it."""

    trace: Trace
    submission: Submission


class Choice(NamedTuple):
    """What a rule files of a question: an attempt and a confidence in [0, 1]; ``attempt`` None is a refusal."""

    attempt: Attempt | None
    confidence: float


REFUSAL = Choice(None, 0.0)


class SinglePassSettings(Record):
    """``median``: over the ``questions`` that are filed, over all their ``passes``, or a number of characters."""

    median: Literal["questions", "passes"] | float


class FourPassSettings(Record):
    """Weights of a pass's vote: for an accepted answer, one that was turned back, and a fallback."""

    accepted: float
    turned_back: float
    fallback: float


class RuleSettings(Record):
    """Settings of the answer rules, the block ``runs`` of the configuration.

    Parameters
    ----------
    answers
        The runs that are filed, in this order.
    baselines_of
        The run whose answers the baselines file.
    """

    answers: list[str]
    baselines_of: str
    single_pass: SinglePassSettings
    four_pass: FourPassSettings


def attempts(traces: Sequence[Trace]) -> list[Attempt]:
    """Return all submissions that are no refusal, turned-back ones included, in their order."""
    return [Attempt(trace, s) for trace in traces for s in trace.submissions if s.text is not None]


def answer_of(trace: Trace) -> Attempt | None:
    """Return what counts as the answer of a pass: the one accepted, else its last attempt; None without any."""
    tried = attempts([trace])
    accepted = [attempt for attempt in tried if attempt.submission.accepted]
    return (accepted or tried or [None])[-1]


def first(passes: Sequence[Trace]) -> Sequence[Trace]:
    """Return the first pass, alone in a list; [] where a log lacks it."""
    return [trace for trace in passes if trace.pass_number == 1]


def most_confident_of(tried: Sequence[Attempt]) -> Attempt | None:
    """Return the attempt of highest confidence; of equals an accepted one, then the earlier."""
    # max keeps the first of equals, which is the earlier
    return max(tried, key=lambda attempt: (attempt.submission.confidence, attempt.submission.accepted), default=None)
