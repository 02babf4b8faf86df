"""How well the reader reads, apart from the agent around it: beside cheap baselines, and given the gold passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from calibrag.agents.reading import sentences_of
from calibrag.corpus.store import PassageStore
from calibrag.models.answer_reader import AnswerReader
from calibrag.records import Question, ReadEvent, Trace

Context = list[tuple[str, str]]


def gold_context(relevant: Mapping[str, int], store: PassageStore) -> Context:
    """Return the (title, sentence) pairs of a question's relevant passages, in the order of the corpus."""
    passages = [store[passage_id] for passage_id, grade in relevant.items() if grade > 0]
    return [(passage.title, text) for passage in passages for text in sentences_of(passage)]


def read_context(trace: Trace, store: PassageStore) -> Context:
    """Return the (title, sentence) pairs that a pass read."""
    reads = [event for event in trace.events if isinstance(event, ReadEvent)]
    return [(store[event.passage_id].title, text) for event in reads for text in event.sentences]


def predictions(questions: Sequence[Question], contexts: Mapping[str, Context], reader: AnswerReader) -> pd.DataFrame:
    """Return one row a question: what the reader chooses, and the candidates that it chose from.

    Columns: ``qid``, ``answer`` (None where nothing was found), ``probability`` (None likewise), ``candidates`` (a
    list, in the order found).
    """
    rows = []
    for question in questions:
        context = contexts.get(question.qid, [])
        answers, _ = reader.read(question.text, context) if context else ([], 0)
        rows.append(
            {
                "qid": question.qid,
                "answer": answers[0].text if answers else None,
                "probability": answers[0].probability if answers else None,
                "candidates": reader.candidates(question.text, context) if context else [],
            }
        )
    return pd.DataFrame(rows, columns=["qid", "answer", "probability", "candidates"])
