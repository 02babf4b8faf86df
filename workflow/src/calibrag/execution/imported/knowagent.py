"""Trajectories of KnowAgent, one a question: ReAct's notation with a line of the actions so far before each thought.

Zhu et al., KnowAgent: Knowledge-Augmented Planning for LLM-Based Agents, NAACL Findings 2025. ``answer`` is the gold
answer; what the agent said stands in its trajectory alone. Questions have no ids, and get one of their text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from calibrag.collections.checking import Ids, Problem, Problems, check_question
from calibrag.collections.jsonl import read_records
from calibrag.execution.imported import trajectories
from calibrag.execution.imported.logged import Logged, Pass, Verdict, qid_of, question, trace
from calibrag.records import Record
from calibrag.trace import ErrorEvent, TraceEvent


class Line(Record):
    """A question and its trajectory; ``reward`` is the token F1 of its answer, ``halted``: the steps ran out."""

    question: str
    answer: str
    correct: bool
    reward: float
    halted: bool
    error: bool
    trajectory: str


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions of a file, each with one pass.

    Raises
    ------
    InputError
        A line breaks the format, a trajectory its notation, a question comes twice, is blank or has no gold answer.
    """
    ids, problems = Ids("question"), Problems()
    for number, line in read_records(str(path), Line, problems):
        qid = qid_of(line.question)
        asked = question(qid, line.question, [line.answer])
        found = [*ids.check(qid, number), *check_question(asked, (), answered=True)]
        try:
            events = _events(line)
        except ValueError as error:
            found.append(Problem("trajectory", str(error)))
            events = []
        for problem in found:
            problems.add(str(path), number, problem)
        stopped = "error" if line.error else "turn_limit" if line.halted else "no_call"
        recorded = ("searches", "calls", "turns", "reasoning")
        verdicts = [Verdict(1, "correct", line.correct), Verdict(1, "reward", line.reward)]
        yield Logged(asked, [trace(Pass(collection, qid, 1), events, recorded, stop_reason=stopped)], verdicts)
    problems.check()


def _events(line: Line) -> list[TraceEvent]:
    """Return the events of a trajectory, a fault of the whole pass as the last one.

    Raises
    ------
    ValueError
        The trajectory breaks its notation, or ends with an answer although the line calls it halted or failed.
    """
    made = trajectories.steps(line.trajectory, line.question, with_path=True)
    events = trajectories.events(line.question, made)
    finished = bool(list(trajectories.queries(made, "Finish")))
    for field in ("halted", "error"):
        if finished and getattr(line, field):
            raise ValueError(f"ends with an answer, although {field} is true")
    if line.error:
        events.append(ErrorEvent(turn=len(made), call="", problem="the log calls this pass failed"))
    return events
