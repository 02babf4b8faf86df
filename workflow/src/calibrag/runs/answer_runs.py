"""Answer runs: one answer a question with its confidence, taken from the traces (spec/bitem section 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from calibrag.errors import InputError
from calibrag.records import read_jsonl
from calibrag.retrieval.runs import Rankings
from calibrag.runs import baselines
from calibrag.runs.choices import Choice, RuleSettings, Traces
from calibrag.runs.filed_confidence import agreement_per_pass, first_pass, most_confident, summed_agreement
from calibrag.runs.four_pass import four_pass
from calibrag.runs.same_answers import Same, by_words
from calibrag.runs.single_pass import longest_reasoning, single_pass
from calibrag.trace import Aspect, Nugget, RunEntry, Trace


class AnswerRule(NamedTuple):
    """A rule of an answer run.

    Parameters
    ----------
    choose
        Takes the traces of all questions, and returns what is filed of each; it may leave out a question.
    needs
        What the traces must hold: a question whose traces do not is left out.
    passage_run
        The passage run whose passages its nuggets may cite.
    passes
        How many passes its answers and nuggets are of, from the first on; None: all.
    """

    choose: Callable[[Traces, RuleSettings, Same], dict[str, Choice]]
    needs: frozenset[Aspect]
    passage_run: str
    passes: int | None

    def read(self, passes: Sequence[Trace]) -> list[Trace]:
        """Return those of a question's passes that answers and nuggets are of."""
        return [trace for trace in passes if self.passes is None or trace.pass_number <= self.passes]


ANSWER_RUNS = {
    "AC-1": AnswerRule(first_pass, frozenset({"confidence"}), "PG-1", 1),
    "AC-2": AnswerRule(most_confident, frozenset({"confidence"}), "PG-2", None),
    "AC-3": AnswerRule(summed_agreement, frozenset({"confidence"}), "PG-2", None),
    "AC-3-per-pass": AnswerRule(agreement_per_pass, frozenset({"confidence"}), "PG-2", None),
    "single-pass": AnswerRule(single_pass, frozenset({"reasoning"}), "PG-1", 1),
    "four-pass": AnswerRule(four_pass, frozenset(), "PG-2", None),
}
"""Name -> rule."""

BASELINES = {
    "constant-50": baselines.constant_50,
    "always-100": baselines.always_100,
    "always-0": baselines.always_0,
}
"""Name -> rule over what the run ``baselines_of`` files."""


def rule_of(run: str, baselines_of: str) -> AnswerRule:
    """Return the rule of a run; a baseline's is that of the run ``baselines_of`` with other confidences."""
    if run in ANSWER_RUNS:
        return ANSWER_RUNS[run]
    base = ANSWER_RUNS[baselines_of]
    return base._replace(choose=lambda *given: BASELINES[run](base.choose(*given)))


class Filed(NamedTuple):
    """What the rules file: the entries, run after run, and a line on each run for the log."""

    entries: list[RunEntry]
    notes: list[str]


def file_answers(
    traces: Traces, rankings: Mapping[str, Rankings], settings: RuleSettings, same: Same = by_words
) -> Filed:
    """Return the entries of all runs ``settings.answers``, those of a run in the order of the questions.

    A question whose passes all failed before any attempt has no entry: filed as an unsure refusal, a fault would raise
    R_O. A rule leaves out questions whose traces do not hold what it needs, which the notes tell.

    Parameters
    ----------
    traces
        The traces of all questions.
    rankings
        Passage run -> its rankings; {} where there are none, and no nugget is filed.
    settings
        See there.
    same
        When answers of passes count as equal.
    """
    filed = Filed([], [])
    for run in settings.answers:
        rule = rule_of(run, settings.baselines_of)
        held = _holding(traces, rule)
        passages = rankings.get(rule.passage_run, {})
        chosen = rule.choose(held, settings, same).items()
        entries = [
            entry
            for qid, choice in chosen
            if (entry := _entry(run, rule, qid, held[qid], choice, passages.get(qid, ())))
        ]
        filed.entries.extend(entries)
        filed.notes.append(_note(run, rule, entries, len(traces) - len(held)))
    return filed


def _holding(traces: Traces, rule: AnswerRule) -> Traces:
    """Return the questions whose traces hold what a rule needs."""
    if "reasoning" in rule.needs and not any(longest_reasoning(t) for passes in traces.values() for t in passes):
        # such as a reader's, which scores candidates: that no word was long says nothing where none was written
        return {}
    return {qid: passes for qid, passes in traces.items() if all(_holds(t, rule.needs) for t in rule.read(passes))}


def _holds(trace: Trace, needs: frozenset[Aspect]) -> bool:
    if trace.recorded is None or trace.status == "skipped":
        return True
    unsure = any(submission.confidence is None for submission in trace.submissions if submission.text is not None)
    return needs <= set(trace.recorded) and not ("confidence" in needs and unsure)


def _note(run: str, rule: AnswerRule, entries: Sequence[RunEntry], left_out: int) -> str:
    sure = sum(entry.confidence == 1.0 for entry in entries)
    note = f"{run}: {len(entries)} entries, {sure} at confidence 1"
    return note + (f"; {left_out} questions left out: no {', '.join(rule.needs)} in their traces" if left_out else "")


def _entry(
    run: str, rule: AnswerRule, qid: str, passes: Sequence[Trace], choice: Choice, passage_ids: Collection[str]
) -> RunEntry | None:
    """Return the entry of a choice with the rule's nuggets; None where there is no attempt and every pass failed."""
    read = rule.read(passes)
    if choice.attempt is None and all(trace.status == "error" for trace in read if trace.status != "skipped"):
        return None
    answer, origin, number = None, "no answer", None
    if choice.attempt:
        trace, submission = choice.attempt
        answer, number = submission.text, trace.pass_number
        state = "" if submission.accepted else " (turned back)"
        origin = f"pass-{number} turn {submission.turn}{state}"
    return RunEntry(
        run=run,
        qid=qid,
        answer=answer,
        confidence=choice.confidence,
        nuggets=_verified(read, passage_ids),
        passage_run=rule.passage_run,
        origin=origin,
        pass_number=number,
    )


def _verified(traces: Iterable[Trace], passage_ids: Collection[str]) -> list[Nugget]:
    return [
        nugget
        for trace in traces
        for nugget in trace.nuggets
        if nugget.verified and not nugget.retracted and nugget.passage_id in passage_ids
    ]


def read_answer_runs(paths: Iterable[str | Path]) -> dict[str, list[RunEntry]]:
    """Return run -> its entries, in the order of the files.

    Raises
    ------
    InputError
        A run has a question twice, be it in two files.
    """
    runs: dict[str, list[RunEntry]] = {}
    seen = set()
    for path in paths:
        for line, entry in enumerate(read_jsonl(path, RunEntry), start=1):
            if (entry.run, entry.qid) in seen:
                raise InputError(path, f"the run {entry.run} has question {entry.qid} twice", line)
            seen.add((entry.run, entry.qid))
            runs.setdefault(entry.run, []).append(entry)
    return runs


def faults(traces: Traces, run: str, baselines_of: str) -> dict[str, str]:
    """Return qid -> the last fault of the passes that a run's answers are of, for the questions that had one.

    Runs that are no rules' over traces, such as those of fitted confidence, have answers of all passes.
    """
    own = run in ANSWER_RUNS or run in BASELINES
    read = rule_of(run, baselines_of).read if own else list
    return {
        qid: trace.events[-1].problem
        for qid, passes in traces.items()
        for trace in read(passes)
        if trace.status == "error"
    }
