"""Results of SeaKR's multi-hop runs: a final answer, those of two ways to it, and the uncertainty of the last step.

Yao et al., SeaKR: Self-aware Knowledge Retrieval for Adaptive Retrieval Augmented Generation, ACL 2025. The log counts
searches and calls of the model without saying what for, so that they are telemetry: ``retrievals``, ``model_calls``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from calibrag.collections.checking import Ids, Problem, Problems, check_question
from calibrag.collections.jsonl import read_records
from calibrag.execution.imported.logged import UNNAMED, Logged, Pass, Verdict, answer, question, trace
from calibrag.normalisation import answer_key
from calibrag.records import Record
from calibrag.trace import ModelEvent


class Line(Record):
    """A question with its answers: from its chain of steps, from reading all that was found, and the one chosen."""

    qid: str
    question: str
    retrievals: int = msgspec.field(name="Retrieval Times")
    model_calls: int = msgspec.field(name="Call LLM Times")
    step: str | None = msgspec.field(name="Final Step Answer")
    read: str | None = msgspec.field(name="Final Read Answer")
    final: str | None = msgspec.field(name="Final Answer")
    ground_truth: str
    last_step_eigen_score: float
    em: bool


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions of a file, each with one pass.

    Its telemetry: ``eigen_score``, lower = surer; ``retrievals`` and ``model_calls``; ``answers_agree``, 1 where the
    answers of steps and of reading are the same under ``normalisation.answer_key``, else 0.

    Raises
    ------
    InputError
        A line breaks the format, an id is unfit or used twice, a question is blank or has no gold answer, a count is
        negative.
    """
    ids, problems = Ids("qid"), Problems()
    for number, line in read_records(str(path), Line, problems):
        asked = question(line.qid, line.question, [line.ground_truth])
        for problem in (*ids.check(line.qid, number), *check_question(asked, (), answered=True), *_check(line)):
            problems.add(str(path), number, problem)
        ways = {"answer by steps": line.step, "answer by reading": line.read}
        said = [ModelEvent(turn=0, model=UNNAMED, purpose=purpose, text=text) for purpose, text in ways.items()]
        telemetry = {
            "eigen_score": line.last_step_eigen_score,
            "retrievals": line.retrievals,
            "model_calls": line.model_calls,
            "answers_agree": answer_key(line.step or "") == answer_key(line.read or ""),
        }
        of = Pass(collection, line.qid, 1)
        yield Logged(asked, [trace(of, [*said, answer(1, line.final)], [], telemetry)], [Verdict(1, "em", line.em)])
    problems.check()


def _check(line: Line) -> Iterator[Problem]:
    for field, count in (("Retrieval Times", line.retrievals), ("Call LLM Times", line.model_calls)):
        if count < 0:
            yield Problem(field, f"must be 0 or more (got {count})")
