r"""Results of AdaRAGUE: each question answered closed-book, with one retrieval, and with several.

Moskvoretskii et al., Adaptive Retrieval Without Self-Knowledge? Bringing Uncertainty Back Home, ACL 2025. The three
become three passes. Of the first the log holds the chain of thought, of the third, on some lines, the number of steps
(telemetry ``steps``); else nothing but the answers.

The log writes what a model said with the escapes of JSON left in (``Orl\u00e9ans``), and compares it so with the gold
answers, which are written without. Here they are read, so that ``em`` and ``inacc`` call some right answers wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from calibrag.collections.checking import Ids, Problems, check_question
from calibrag.collections.jsonl import read_records
from calibrag.execution.imported.logged import UNNAMED, Logged, Pass, Verdict, answer, question, trace
from calibrag.records import Record
from calibrag.trace import AnswerEvent, ModelEvent

# whole runs, since a sign outside the basic plane takes two
_ESCAPES = re.compile(r'(?:\\u[0-9a-fA-F]{4}|\\["\\/])+')


class Line(Record):
    """A question with its three answers.

    ``inacc``: a gold answer stands somewhere in the answer. ``ircot_steps``: steps of the third, which half of the
    lines tell.
    """

    id: str
    dataset: str
    adaptive_rag_split: str
    question: str
    gold: list[str]
    closed_book_cot: str
    closed_book: str | None
    closed_book_em: bool
    closed_book_inacc: bool
    single_retrieval: str | None
    single_retrieval_em: bool
    single_retrieval_inacc: bool
    multi_retrieval: str | None
    multi_retrieval_em: bool
    multi_retrieval_inacc: bool
    ircot_steps: int | None = None


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions of a file, each with three passes.

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
        thought = ModelEvent(turn=0, model=UNNAMED, purpose="next call", reasoning=unescaped(line.closed_book_cot))
        steps = {} if line.ircot_steps is None else {"steps": line.ircot_steps}
        traces = [
            trace(Pass(collection, line.id, 1), [thought, _said(line.closed_book)], ["reasoning"]),
            trace(Pass(collection, line.id, 2), [_said(line.single_retrieval)], []),
            trace(Pass(collection, line.id, 3), [_said(line.multi_retrieval)], [], steps),
        ]
        verdicts = [
            Verdict(1, "em", line.closed_book_em),
            Verdict(1, "inacc", line.closed_book_inacc),
            Verdict(2, "em", line.single_retrieval_em),
            Verdict(2, "inacc", line.single_retrieval_inacc),
            Verdict(3, "em", line.multi_retrieval_em),
            Verdict(3, "inacc", line.multi_retrieval_inacc),
        ]
        yield Logged(asked, traces, verdicts)
    problems.check()


def unescaped(text: str) -> str:
    """Return a text with JSON's escapes of signs, quotes and backslashes read; what is no whole sign stays."""
    return _ESCAPES.sub(_read, text)


def _read(escapes: re.Match[str]) -> str:
    try:
        return msgspec.json.decode(f'"{escapes[0]}"', type=str)
    except msgspec.DecodeError:
        return escapes[0]


def _said(text: str | None) -> AnswerEvent:
    return answer(1, None if text is None else unescaped(text))
