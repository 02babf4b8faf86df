"""Trajectories in the manner of ReAct: thoughts, actions and observations, numbered by turn.

``react``: logs of Reflexion (noahshinn/reflexion), several trials a question. A trial after a right one repeats it
to the letter, so that trials are no independent passes, and their agreement would give the label away: ``passes: 1``.
``knowagent``: logs of KnowAgent (zjunlp/KnowAgent), which hold no gold answers, only whether each answer was right.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from calibrag.errors import InputError
from calibrag.execution.imported.seam import Logged, halted_trace, trace_of
from calibrag.records import Question, Record, read_jsonl
from calibrag.trace import Aspect, ErrorEvent, ModelEvent, ReadEvent, SearchEvent, Trace, TraceEvent

RECORDED: list[Aspect] = ["searches", "reads", "calls", "turns", "reasoning"]
_PART = re.compile(r"^(Thought|Action|Observation|ActionPath) (\d+): ?", re.MULTILINE)
_ACTION = re.compile(r"(\w+)\[(.*)\]\s*$", re.DOTALL)


class Reflexion(Record):
    """A line of a Reflexion log: one trial."""

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


class KnowAgent(Record):
    """A line of a KnowAgent log."""

    question: str
    answer: str
    correct: bool
    reward: float
    halted: bool
    error: bool
    trajectory: str


def read_react(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions with their trials, in the order of the file.

    Raises
    ------
    InputError
        The trials of a question are not numbered 1, 2, ...
    """
    trials: dict[str, list[Reflexion]] = {}
    for line in read_jsonl(path, Reflexion):
        of_question = trials.setdefault(line.hotpot_id, [])
        of_question.append(line)
        if line.trial != len(of_question):
            problem = f"question {line.hotpot_id}: trial must be {len(of_question)} (got {line.trial})"
            raise InputError(path, problem, field="trial")
    for qid, lines in trials.items():
        question = Question(qid=qid, text=lines[0].question, answers=[lines[0].gold])
        traces = [_trace(collection, qid, line.trial, line.trajectory, line.pred, "GPT") for line in lines]
        yield Logged(question, traces, [{"status": line.status == "correct"} for line in lines])


def read_knowagent(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions with their one pass; a question's id is made from its text, since the log has none."""
    for line in read_jsonl(path, KnowAgent):
        qid = "ka-" + hashlib.sha256(line.question.encode()).hexdigest()[:12]
        answer = None if line.halted or line.error else line.answer
        trace = _trace(collection, qid, 1, line.trajectory, answer, "Llama-2-13B")
        yield Logged(Question(qid=qid, text=line.question.strip(), answers=[]), [trace], [{"correct": line.correct}])


def _trace(collection: str, qid: str, number: int, trajectory: str, answer: str | None, model: str) -> Trace:
    events = list(_events(trajectory, model))
    if answer is None:
        return halted_trace(collection, qid, number, events, RECORDED)
    return trace_of(collection, qid, number, answer, events, RECORDED)


def _events(trajectory: str, model: str) -> Iterator[TraceEvent]:
    """Yield a model event a turn, then what it did; ``Finish`` is left to the answer, arithmetic to the model."""
    turns: dict[int, dict[str, str]] = {}
    marks = list(_PART.finditer(trajectory))
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        text = trajectory[mark.end() : after.start() if after else len(trajectory)].strip()
        turns.setdefault(int(mark[2]), {})[mark[1]] = text
    page = ""
    for turn, parts in sorted(turns.items()):
        action, observed = parts.get("Action", ""), parts.get("Observation", "")
        yield ModelEvent(turn=turn, model=model, purpose="next call", reasoning=parts.get("Thought"), text=action)
        matched = _ACTION.match(action)
        name, argument = (matched[1], matched[2]) if matched else ("", action)
        if observed.startswith("Invalid Action") or not matched:
            yield ErrorEvent(turn=turn, call=name or "unreadable", problem=observed or "no action", arguments=argument)
        elif name in ("Search", "Retrieve"):
            page = argument
            yield SearchEvent(turn=turn, query=argument, hits=[])
        elif name == "Lookup":
            yield ReadEvent(turn=turn, passage_id=page, question=argument, sentences=[observed], chosen_by="lexical")
