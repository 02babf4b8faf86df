"""Trajectories of ReAct agents as Reflexion's repository keeps them, several trials a question.

Shinn et al., Reflexion: Language Agents with Verbal Reinforcement Learning, NeurIPS 2023. There a question is tried
again only where the trial before was wrong, and its trajectory is repeated where it was right. Whether later trials
agree with the first thus tells whether it was right: only the first may be studied, unless the trials are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from calibrag.collections.checking import Ids, Problem, Problems, check_question
from calibrag.collections.jsonl import read_records
from calibrag.execution.imported import trajectories
from calibrag.execution.imported.logged import Logged, Pass, Verdict, question, trace
from calibrag.records import Record
from calibrag.trace import TraceEvent


class Line(Record):
    """One trial; ``pred`` is None where the agent was halted before it answered."""

    trial: int
    status: Literal["correct", "incorrect", "halted"]
    question: str
    gold: str
    pred: str | None
    search_queries: list[str]
    lookups: list[str]
    n_steps: int
    trajectory: str
    hotpot_id: str


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions of a file in the order of their first trials; a trial is a pass.

    Raises
    ------
    InputError
        A line breaks the format, what it tells of its trajectory is not so, or the trials of a question are not
        numbered 1, 2, ... in the order of the file, with the same text and gold answer.
    """
    ids, problems = Ids("hotpot_id"), Problems()
    questions: dict[str, Logged] = {}
    for number, line in read_records(str(path), Line, problems):
        asked = question(line.hotpot_id, line.question, [line.gold])
        if line.hotpot_id not in questions:
            questions[line.hotpot_id] = Logged(asked, [], [])
            found = [*ids.check(line.hotpot_id, number), *check_question(asked, (), answered=True)]
        else:
            found = []
        logged = questions[line.hotpot_id]
        if asked != logged.question:
            found.append(Problem("question", f"question {line.hotpot_id} has another text or gold answer before"))
        if line.trial != len(logged.traces) + 1:
            wanted = len(logged.traces) + 1
            found.append(Problem("trial", f"must be {wanted}, the next of {line.hotpot_id} (got {line.trial})"))
        try:
            events = _events(line)
        except ValueError as error:
            found.append(Problem("trajectory", str(error)))
            events = []
        for problem in found:
            problems.add(str(path), number, problem)
        of = Pass(collection, line.hotpot_id, line.trial)
        recorded = ("searches", "calls", "turns", "reasoning")
        stopped = "turn_limit" if line.status == "halted" else "no_call"
        logged.traces.append(trace(of, events, recorded, stop_reason=stopped))
        logged.verdicts.append(Verdict(line.trial, "correct", line.status == "correct"))
    problems.check()
    yield from questions.values()


def _events(line: Line) -> list[TraceEvent]:
    """Return the events of a trial.

    Raises
    ------
    ValueError
        The trajectory breaks its notation, or the line's other fields do not say the same as it does.
    """
    # which the log appends to the last observation of a trial that was not right
    text = line.trajectory.removesuffix(f"\nCorrect answer: {line.gold}")
    made = trajectories.steps(text, line.question, with_path=False)
    events = trajectories.events(line.question, made)
    told = {
        "pred": (line.pred, trajectories.final(events)),
        "n_steps": (line.n_steps, len(made)),
        "search_queries": (line.search_queries, list(trajectories.queries(made, "Search"))),
        "lookups": (line.lookups, list(trajectories.queries(made, "Lookup"))),
    }
    for field, (said, done) in told.items():
        if said != done:
            raise ValueError(f"does not fit {field}: {said!r} there, and {done!r} here")
    return events
