"""Rules of answers: the gate's rulings, the submissions, and what is filed of them."""

from __future__ import annotations

from collections.abc import Iterator

from calibrag.agents.gate import reason
from calibrag.execution.trace_rules.case import Case, ruled
from calibrag.trace import GateEvent


def rulings(case: Case) -> Iterator[str]:
    """Each answer is followed by the gate's ruling, where rulings were recorded; the submissions say the same."""
    pairs = list(ruled(case.trace))
    gates = sum(isinstance(event, GateEvent) for event in case.trace.events)
    followed = sum(gate is not None for _, gate in pairs)
    for answer, gate in pairs:
        if gate is None and case.trace.records("gate"):
            yield f"the answer of turn {answer.turn} is not followed by a ruling of the gate"
    if gates != followed:
        yield f"{gates - followed} of {gates} rulings of the gate do not follow an answer"
    if len(pairs) != len(case.trace.submissions):
        yield f"{len(pairs)} answers were submitted, and {len(case.trace.submissions)} are among the submissions"
    for submission, (answer, gate) in zip(case.trace.submissions, pairs, strict=False):
        where = f"of the submission of turn {submission.turn} must be as submitted,"
        for field in ("turn", "text", "passage_ids", "origin", "source_pass"):
            if getattr(submission, field) != getattr(answer, field):
                yield f"{field} {where} {getattr(answer, field)!r} (got {getattr(submission, field)!r})"
        if gate is None:
            continue
        reasons = [reason(condition) for condition in gate.conditions if not condition.passed]
        for field, wanted in (("accepted", gate.accepted), ("confidence", gate.confidence), ("reasons", reasons)):
            if getattr(submission, field) != wanted:
                yield f"{field} {where} {wanted!r} (got {getattr(submission, field)!r})"


def conditions(case: Case) -> Iterator[str]:
    """An answer is accepted exactly if all conditions pass; only a fallback is held to none."""
    for answer, gate in ruled(case.trace):
        if gate is None:
            continue
        failed = [condition.name for condition in gate.conditions if not condition.passed]
        if gate.accepted and failed:
            yield f"the answer of turn {answer.turn} is accepted, though {', '.join(failed)} failed"
        if not gate.accepted and not failed:
            yield f"the answer of turn {answer.turn} is turned back, though no condition failed"
        if answer.origin == "own" and not gate.conditions:
            yield f"the answer of turn {answer.turn} was held to no condition"


def filed(case: Case) -> Iterator[str]:
    """``answer`` and ``confidence`` are those of the last submission where it was accepted, and else null."""
    trace = case.trace
    last = trace.submissions[-1] if trace.submissions else None
    wanted = (last.text, last.confidence) if last and last.accepted else (None, None)
    for field, value in zip(("answer", "confidence"), wanted, strict=True):
        if getattr(trace, field) != value:
            yield f"{field} must be {value!r}, by the last submission (got {getattr(trace, field)!r})"


def fallback(case: Case) -> Iterator[str]:
    """A fallback comes last and names an earlier pass, whose own answer it is; an own answer names none."""
    for number, submission in enumerate(case.trace.submissions, start=1):
        where = f"the submission of turn {submission.turn}"
        if submission.origin == "own":
            if submission.source_pass is not None:
                yield f"{where} is the pass's own and must name no source_pass (got {submission.source_pass})"
            continue
        if number < len(case.trace.submissions):
            yield f"{where} is a fallback, and another follows"
        source = next((trace for trace in case.earlier if trace.pass_number == submission.source_pass), None)
        if source is None:
            yield f"{where} must name an earlier pass (got {submission.source_pass})"
        elif not (source.submissions and source.submissions[-1].origin == "own" and source.answer == submission.text):
            yield f"{where} is no answer of pass {submission.source_pass}'s own: {submission.text!r}"
