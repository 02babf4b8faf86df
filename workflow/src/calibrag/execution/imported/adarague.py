"""Result files of AdaRAGUE (s-nlp/AdaRAGUE): each question answered from memory, with one retrieval, and with several.

The three are three passes of one model. Of the first the chain of thought is kept; the second searches once, for the
question itself; of the third half of the lines count the steps, and none says what was searched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from calibrag.execution.imported.seam import Logged, trace_of
from calibrag.records import Question, Record, read_jsonl
from calibrag.trace import ModelEvent, SearchEvent

MODEL = "Llama-3.1-8B"


class Line(Record, kw_only=True):
    """A line; ``inacc``: a gold answer stands in the answer (in-accuracy); ``ircot_steps``, known of half of the lines,
    counts the steps of the answer with several retrievals.
    """

    id: str
    dataset: str
    adaptive_rag_split: str
    question: str
    gold: list[str]
    closed_book_cot: str
    closed_book: str
    closed_book_em: bool
    closed_book_inacc: bool
    single_retrieval: str
    single_retrieval_em: bool
    single_retrieval_inacc: bool
    multi_retrieval: str
    multi_retrieval_em: bool
    multi_retrieval_inacc: bool
    ircot_steps: int | None = None


def read(path: str | Path, collection: str) -> Iterator[Logged]:
    """Yield the questions with their three passes."""
    for line in read_jsonl(path, Line):
        thought = ModelEvent(turn=1, model=MODEL, purpose="next call", text=line.closed_book_cot)
        search = SearchEvent(turn=1, query=line.question, hits=[])
        steps = {} if line.ircot_steps is None else {"ircot_steps": float(line.ircot_steps)}
        yield Logged(
            Question(qid=line.id, text=line.question, answers=line.gold),
            [
                trace_of(collection, line.id, 1, line.closed_book, [thought], ["searches", "reasoning"]),
                trace_of(collection, line.id, 2, line.single_retrieval, [search], ["searches"]),
                trace_of(collection, line.id, 3, line.multi_retrieval, [], [], telemetry=steps),
            ],
            [
                {"em": line.closed_book_em, "inacc": line.closed_book_inacc},
                {"em": line.single_retrieval_em, "inacc": line.single_retrieval_inacc},
                {"em": line.multi_retrieval_em, "inacc": line.multi_retrieval_inacc},
            ],
        )
