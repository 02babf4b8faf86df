"""Answer runs: one answer a question with its confidence, taken from the traces (spec/bitem section 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from calibrag.trace import Nugget, RunEntry, Submission, Trace


def first_pass(traces: Sequence[Trace], passage_ids: Collection[str]) -> RunEntry | None:
    """AC-1: "first-pass answer and confidence"; of a pass without an answer, its last attempt that is no refusal.

    Files the nuggets verified in that pass whose passage is in PG-1. None where the pass failed before any attempt.
    """
    trace = traces[0]
    attempts = [submission for submission in trace.submissions if submission.text is not None]
    accepted = [submission for submission in attempts if submission.accepted]
    chosen = (accepted or attempts)[-1:]
    return _entry("AC-1", [trace], [(trace, s) for s in chosen], passage_ids, "PG-1")


def most_confident(traces: Sequence[Trace], passage_ids: Collection[str]) -> RunEntry | None:
    """AC-2: over all submissions of all passes that are no refusal, turned-back ones included, the one of highest
    confidence, unchanged. Ties: accepted before turned-back, then earlier.

    Files all verified nuggets over the passes whose passage is in PG-2, whichever answer was chosen. None where
    there is no attempt and every pass failed.
    """
    attempts = [(trace, s) for trace in traces for s in trace.submissions if s.text is not None]
    # max keeps the first of equals, which is the earlier
    chosen = max(attempts, key=lambda item: (item[1].confidence, item[1].accepted), default=None)
    return _entry("AC-2", traces, [chosen] if chosen else [], passage_ids, "PG-2")


def _verified(traces: Sequence[Trace], passage_ids: Collection[str]) -> list[Nugget]:
    return [
        nugget
        for trace in traces
        for nugget in trace.nuggets
        if nugget.verified and not nugget.retracted and nugget.passage_id in passage_ids
    ]


def _entry(
    run: str,
    traces: Sequence[Trace],
    chosen: Sequence[tuple[Trace, Submission]],
    passage_ids: Collection[str],
    passage_run: str,
) -> RunEntry | None:
    """Return the entry of the chosen submission; without one a refusal with confidence 0.

    None where the passes failed instead: filed as an unsure refusal, a fault would raise R_O.
    """
    qid, nuggets = traces[0].qid, _verified(traces, passage_ids)
    if not chosen:
        if all(trace.status == "error" for trace in traces if trace.status != "skipped"):
            return None
        return RunEntry(
            run=run, qid=qid, answer=None, confidence=0.0, nuggets=nuggets, passage_run=passage_run, origin="no answer"
        )
    [(trace, submission)] = chosen
    state = "" if submission.accepted else " (turned back)"
    return RunEntry(
        run=run,
        qid=qid,
        answer=submission.text,
        confidence=submission.confidence,
        nuggets=nuggets,
        passage_run=passage_run,
        origin=f"pass-{trace.pass_number} turn {submission.turn}{state}",
        pass_number=trace.pass_number,
    )


class AnswerRule(NamedTuple):
    """A rule, the passage run whose passages its nuggets may cite, and how many passes it reads (None: all)."""

    choose: Callable[[Sequence[Trace], Collection[str]], RunEntry | None]
    passage_run: str
    passes: int | None


ANSWER_RUNS = {
    "AC-1": AnswerRule(first_pass, "PG-1", 1),
    "AC-2": AnswerRule(most_confident, "PG-2", None),
}
"""Name -> rule; each takes the traces of one question in pass order, and the ids of its passage run."""


def faults(traces: Mapping[str, Sequence[Trace]], rule: AnswerRule) -> dict[str, str]:
    """Return qid -> the last fault of the passes that the rule reads, for the questions that had one."""
    return {
        qid: trace.events[-1].problem
        for qid, passes in traces.items()
        for trace in passes[: rule.passes]
        if trace.status == "error"
    }
