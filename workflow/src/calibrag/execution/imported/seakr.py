"""Result files of SeaKR as AdaRAGUE ran it (s-nlp/AdaRAGUE), with its uncertainty, computed from hidden states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from calibrag.execution.imported.seam import Logged, trace_of
from calibrag.records import Question, Record, read_jsonl


class Steps(Record):
    """A line of SeaKR answering step by step; ``last_step_eigen_score`` is higher where it was less sure."""

    qid: str
    question: str
    retrievals: int = msgspec.field(name="Retrieval Times")
    calls: int = msgspec.field(name="Call LLM Times")
    step_answer: str = msgspec.field(name="Final Step Answer")
    read_answer: str = msgspec.field(name="Final Read Answer")
    answer: str = msgspec.field(name="Final Answer")
    ground_truth: str
    last_step_eigen_score: float
    em: bool


class Direct(Record):
    """A line of the model answering at once, with four scores of its uncertainty."""

    id: str
    question: str
    gold: list[str]
    answer: str
    perplexity: float
    energy_score: float
    ln_entropy: float
    eigen_score: float
    em: bool
    inacc: bool


def read_steps(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions with their one pass; what it searched for was not recorded, only how often."""
    for line in read_jsonl(path, Steps):
        telemetry = {
            "retrievals": float(line.retrievals),
            "model_calls": float(line.calls),
            "eigen_score": line.last_step_eigen_score,
        }
        question = Question(qid=line.qid, text=line.question, answers=[line.ground_truth])
        yield Logged(
            question, [trace_of(collection, line.qid, 1, line.answer, [], [], telemetry=telemetry)], [{"em": line.em}]
        )


def read_direct(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions with their one pass."""
    for line in read_jsonl(path, Direct):
        names = ("perplexity", "energy_score", "ln_entropy", "eigen_score")
        telemetry = {name: getattr(line, name) for name in names}
        question = Question(qid=line.id, text=line.question, answers=line.gold)
        trace = trace_of(collection, line.id, 1, line.answer, [], [], telemetry=telemetry)
        yield Logged(question, [trace], [{"em": line.em, "inacc": line.inacc}])
