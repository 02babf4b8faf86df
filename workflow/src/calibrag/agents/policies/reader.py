"""The embedded default: a deterministic controller around a model that scores candidate answers.

It searches for the question, reads the best passages, and follows names found on the way with further searches. The
most probable candidate is recorded as a claim on each passage that holds it and submitted; where the gate turns it
back, the next candidate is tried. It needs no network and no chat model (design.md, "Policies").
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from calibrag.agents.protocol import (
    Answer,
    Proposal,
    ProposeAnswers,
    Read,
    RecordNugget,
    Search,
    Sentence,
    ToolCall,
)
from calibrag.normalisation import words
from calibrag.records import Passage, Question, Record
from calibrag.verification.claims import claim_text

Calls = Generator[ToolCall | ProposeAnswers, Any, Any]


class ReaderSettings(Record):
    """Settings of the reader policy.

    Parameters
    ----------
    passages_read
        Passages read after each search, best first.
    follow_ups
        Names that are searched after the first search.
    sources
        Passages on which one candidate is recorded, at most.
    attempts
        Candidates that are submitted before the policy refuses to answer.
    """

    passages_read: int
    follow_ups: int
    sources: int
    attempts: int


class ReaderPolicy:
    """A policy as ``protocol.Policy`` wants it; stateless between questions."""

    def __init__(self, settings: ReaderSettings):
        self.settings = settings

    def __call__(self, question: Question) -> Calls:
        """Yield the calls of one pass."""
        found = yield Search(query=question.text)
        sentences = yield from self._read(found.passages, question.text, set())
        for name in self._leads(question.text, found.passages, sentences):
            further = yield Search(query=f"{name} {question.text}")
            seen = {sentence.passage_id for sentence in sentences}
            sentences += yield from self._read(further.passages, f"{name} {question.text}", seen)
        if not sentences:
            return
        proposals = yield ProposeAnswers(question=question.text, sentences=sentences)
        for proposal in proposals.proposals[: self.settings.attempts]:
            yield from self._submit(question, proposal)
        yield Answer(text=None, passage_ids=[])

    def _read(self, passages: Iterable[Passage], question: str, seen: set[str]) -> Calls:
        """Read the best passages that were not read yet; returns their sentences."""
        sentences = []
        for passage in [p for p in passages if p.passage_id not in seen][: self.settings.passages_read]:
            result = yield Read(passage_id=passage.passage_id, question=question)
            sentences += [
                Sentence(passage_id=passage.passage_id, title=passage.title, text=text) for text in result.sentences
            ]
        return sentences

    def _leads(self, question: str, passages: list[Passage], sentences: list[Sentence]) -> list[str]:
        """Return the names worth a search: titles..."""
        raise RuntimeError

    def _submit(self, question: Question, proposal: Proposal) -> Calls:
        """Record the candidate as a claim on the passages that hold it, and submit it."""
        passage_ids = []
        for sentence in proposal.sentences[: self.settings.sources]:
            yield RecordNugget(
                passage_id=sentence.passage_id, quotes=[sentence.text], claim=claim_text(question.text, proposal.text)
            )
            passage_ids.append(sentence.passage_id)
        yield Answer(text=proposal.text, passage_ids=passage_ids)
