"""How well the reader reads, apart from the agent around it: beside cheap baselines, and given the gold passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from calibrag.agents.reading import sentences_of
from calibrag.corpus.store import PassageStore
from calibrag.models.answer_reader import AnswerReader
from calibrag.records import Question
from calibrag.trace import ModelEvent, Trace

Context = list[tuple[str, str]]

COLUMNS = ["qid", "answer", "probability", "candidates"]
"""The most probable candidate and its probability (both None where nothing was found), and all, in the order found."""


def gold_context(relevant: Mapping[str, int], store: PassageStore) -> Context:
    """Return the (title, sentence) pairs of a question's relevant passages, in the order of the corpus."""
    passages = [store[passage_id] for passage_id, grade in relevant.items() if grade > 0]
    return [(passage.title, text) for passage in passages for text in sentences_of(passage)]


def read_alone(questions: Iterable[Question], contexts: Mapping[str, Context], reader: AnswerReader) -> pd.DataFrame:
    """Return what the reader chooses from each question's context, as `COLUMNS` say."""
    rows = []
    for question in questions:
        context = contexts.get(question.qid, [])
        answers, _ = reader.read(question.text, context) if context else ([], 0)
        rows.append(_row(question.qid, [a.text for a in answers], [a.probability for a in answers]))
    return pd.DataFrame(rows, columns=COLUMNS)


def read_in_pass(traces: Iterable[Trace]) -> pd.DataFrame:
    """Return what the reader chose at the end of each pass, from everything read until then, as `COLUMNS` say."""
    rows = []
    for trace in traces:
        calls = [event for event in trace.events if isinstance(event, ModelEvent)]
        last = calls[-1] if calls else None
        rows.append(_row(trace.qid, last.candidates if last else [], last.probabilities if last else []))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(qid: str, candidates: list[str], probabilities: list[float]) -> dict:
    best = max(range(len(candidates)), key=probabilities.__getitem__, default=None)
    return {
        "qid": qid,
        "answer": None if best is None else candidates[best],
        "probability": None if best is None else probabilities[best],
        "candidates": candidates,
    }
