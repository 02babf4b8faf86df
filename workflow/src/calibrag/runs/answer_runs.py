"""Answer runs: one answer a question with its confidence, taken from the traces (spec/bitem section 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from calibrag.records import Nugget, RunEntry, Submission, Trace


def first_pass(traces: Sequence[Trace], passage_ids: Collection[str]) -> RunEntry:
    """AC-1: "first-pass answer and confidence"; of a pass without an answer, its last attempt that is no refusal.

    Files the nuggets verified in that pass whose passage is in PG-1.
    """
    trace = traces[0]
    attempts = [submission for submission in trace.submissions if submission.text is not None]
    accepted = [submission for submission in attempts if submission.accepted]
    chosen = (accepted or attempts)[-1:]
    return _entry(trace.qid, [(trace, s) for s in chosen], _verified([trace], passage_ids), "PG-1")


def most_confident(traces: Sequence[Trace], passage_ids: Collection[str]) -> RunEntry:
    """AC-2: over all submissions of all passes that are no refusal, turned-back ones included, the one of highest
    confidence, unchanged. Ties: accepted before turned-back, then earlier.

    Files all verified nuggets over the passes whose passage is in PG-2, whichever answer was chosen.
    """
    attempts = [(trace, s) for trace in traces for s in trace.submissions if s.text is not None]
    # max keeps the first of equals, which is the earlier
    chosen = max(attempts, key=lambda item: (item[1].confidence, item[1].accepted), default=None)
    return _entry(traces[0].qid, [chosen] if chosen else [], _verified(traces, passage_ids), "PG-2")


def _verified(traces: Sequence[Trace], passage_ids: Collection[str]) -> list[Nugget]:
    return [
        nugget
        for trace in traces
        for nugget in trace.nuggets
        if nugget.verified and not nugget.retracted and nugget.passage_id in passage_ids
    ]


def _entry(qid: str, chosen: Sequence[tuple[Trace, Submission]], nuggets: list[Nugget], passage_run: str) -> RunEntry:
    """Return the entry of the chosen submission; a refusal with confidence 0 where there is none."""
    if not chosen:
        return RunEntry(
            qid=qid, answer=None, confidence=0.0, nuggets=nuggets, passage_run=passage_run, origin="no answer"
        )
    [(trace, submission)] = chosen
    state = "" if submission.accepted else " (turned back)"
    return RunEntry(
        qid=qid,
        answer=submission.text,
        confidence=submission.confidence,
        nuggets=nuggets,
        passage_run=passage_run,
        origin=f"pass-{trace.pass_number} turn {submission.turn}{state}",
    )


class AnswerRule(NamedTuple):
    """A rule, and the passage run whose passages its nuggets may cite."""

    choose: Callable[[Sequence[Trace], Collection[str]], RunEntry]
    passage_run: str


ANSWER_RUNS = {
    "AC-1": AnswerRule(first_pass, "PG-1"),
    "AC-2": AnswerRule(most_confident, "PG-2"),
}
"""Name -> rule; each takes the traces of one question in pass order, and the ids of its passage run."""
