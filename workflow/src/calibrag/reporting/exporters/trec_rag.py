"""Answer runs as the TREC RAG track of 2024 takes them: JSON Lines, each answer with the passages that it cites.

The format is that of the track's organisers (castorini/ragnarok, ``check_trec_rag24_gen.py``): at most 20 references a
topic, sentences that cite them by their place from 0, the length in words after NFKC. Their checker ignores fields that
it does not know, and so ``confidence`` stands beside the others. Its limit of 400 words is left to it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from calibrag.execution.trace_rules.case import met
from calibrag.records import Record, write_jsonl
from calibrag.reporting.exporters.material import Material
from calibrag.trace import RunEntry, Trace

MOST_REFERENCES = 20


class CitedSentence(Record):
    """A sentence and the places, from 0, of the references that support it."""

    text: str
    citations: list[int]


class RagAnswer(Record):
    """A topic's answer; a refusal has no sentence. ``confidence`` in [0, 1] is ours."""

    run_id: str
    topic_id: str
    topic: str
    references: list[str]
    response_length: int
    answer: list[CitedSentence]
    confidence: float


def export(material: Material, folder: Path) -> None:
    """Write ``AC-1.jsonl`` and so on; the run_id is ``system-AC-1``. A question that failed is not in the file."""
    topics = {question.qid: question.text for question in material.questions}
    for run, entries in material.runs.items():
        answers = (rag_answer(entry, topics[entry.qid], material.traces[entry.qid], run) for entry in entries)
        write_jsonl(folder / f"{run}.jsonl", answers)


def rag_answer(entry: RunEntry, topic: str, traces: Sequence[Trace], run: str) -> RagAnswer:
    """Return what a run files for a topic, citing the passages that its submission named and the pass had met."""
    references = _cited(entry, traces)[:MOST_REFERENCES]
    text = entry.answer or ""
    sentence = CitedSentence(text=text, citations=list(range(len(references))))
    return RagAnswer(
        run_id=f"{traces[0].system}-{run}",
        topic_id=entry.qid,
        topic=topic,
        references=references,
        response_length=len(unicodedata.normalize("NFKC", text).split()),
        answer=[sentence] if text else [],
        confidence=entry.confidence,
    )


def _cited(entry: RunEntry, traces: Sequence[Trace]) -> list[str]:
    for trace in traces:
        for submission in trace.submissions:
            label = f"pass-{trace.pass_number} turn {submission.turn}"
            # a fallback is submitted in the turn of the refusal that it takes the place of
            if entry.origin.removesuffix(" (turned back)") == label and entry.answer == submission.text:
                known = met(trace)
                return [passage_id for passage_id in dict.fromkeys(submission.passage_ids) if passage_id in known]
    return []
