"""Direct answers with the uncertainty scores that SeaKR's code computes of them, one pass a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from calibrag.collections.checking import Ids, Problems, check_question
from calibrag.collections.jsonl import read_records
from calibrag.execution.imported.logged import Logged, Pass, Verdict, answer, question, trace
from calibrag.records import Record


class Line(Record):
    """A question, its answer without retrieval, and four scores of the answer, lower = surer in all but the energy."""

    id: str
    question: str
    gold: list[str]
    answer: str | None
    perplexity: float
    energy_score: float
    ln_entropy: float
    eigen_score: float
    em: bool
    inacc: bool


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions of a file, each with one pass, the scores its telemetry under their names.

    Raises
    ------
    InputError
        A line breaks the format, an id is unfit or used twice, a question is blank or has no gold answer.
    """
    ids, problems = Ids("id"), Problems()
    for number, line in read_records(str(path), Line, problems):
        asked = question(line.id, line.question, line.gold)
        for problem in (*ids.check(line.id, number), *check_question(asked, (), answered=True)):
            problems.add(str(path), number, problem)
        scores = {name: getattr(line, name) for name in ("perplexity", "energy_score", "ln_entropy", "eigen_score")}
        of = Pass(collection, line.id, 1)
        verdicts = [Verdict(1, "em", line.em), Verdict(1, "inacc", line.inacc)]
        yield Logged(asked, [trace(of, [answer(1, line.answer)], [], scores)], verdicts)
    problems.check()
