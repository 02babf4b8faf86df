"""The embedded default: a deterministic controller around a model that scores candidate answers.

It searches for the question and reads the best passages. The reader's most probable names lead to further searches,
since what a small model takes for the answer of a two-hop question is often the way to it. Then the most probable
candidate is recorded as a claim on each passage that holds it, and submitted. Where the gate turns it back and another
is to be tried, its claims are retracted, so that they lend nothing to the other answer. It needs no network and no
chat model.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, Literal

from calibrag.agents.protocol import (
    Answer,
    EntitySearch,
    Proposal,
    ProposeAnswers,
    Read,
    RecordNugget,
    Retract,
    Search,
    Sentence,
    ToolCall,
)
from calibrag.normalisation import words
from calibrag.records import Question, Record
from calibrag.verification.claims import claim_text

Calls = Generator[ToolCall | ProposeAnswers, Any, Any]


class ReaderSettings(Record):
    """Settings of the reader policy.

    Parameters
    ----------
    passages_read
        Passages read after each search, best first.
    neighbours
        Neighbours on each side of a passage read that are read as well.
    follow_ups
        Further searches, each led by a name that the reader found.
    follow_up_by
        Whether these are for name and question together, or for the name alone among the annotated ones.
    sources
        Passages on which one candidate is recorded, at most.
    attempts
        Candidates that are submitted before the policy refuses to answer.
    """

    passages_read: int
    neighbours: int
    follow_ups: int
    follow_up_by: Literal["search", "entity_search"]
    sources: int
    attempts: int


class ReaderPolicy:
    """A policy as ``protocol.Policy`` wants it; it keeps nothing between questions."""

    asks = frozenset({ProposeAnswers})
    prompts: list[str] = []

    def __init__(self, settings: ReaderSettings):
        self.settings = settings

    def __call__(self, question: Question) -> Calls:
        """Yield the calls of one pass."""
        sentences: list[Sentence] = []
        yield from self._look(self._search(question.text), question.text, sentences)
        followed: list[str] = []
        proposals: list[Proposal] = []
        read = 0
        while len(sentences) > read:
            read = len(sentences)
            found = yield ProposeAnswers(question=question.text, sentences=list(sentences))
            proposals = sorted(found.proposals, key=lambda proposal: -proposal.probability)
            name = self._lead(proposals, sentences, followed)
            if name is None:
                break
            followed.append(name)
            query = f"{name} {question.text}"
            by_name = self.settings.follow_up_by == "entity_search"
            yield from self._look(EntitySearch(name=name) if by_name else self._search(query), query, sentences)
        recorded: list[str] = []
        for proposal in proposals[: self.settings.attempts]:
            for nugget_id in recorded:
                yield Retract(nugget_id=nugget_id)
            recorded = yield from self._submit(question, proposal)
        yield Answer(text=None, passage_ids=[])

    def _search(self, query: str) -> Search:
        return Search(query=query, neighbours=self.settings.neighbours)

    def _look(self, call: Search | EntitySearch, query: str, sentences: list[Sentence]) -> Calls:
        """Search, read the best passages that were not read yet, and add what they say to ``sentences``."""
        found = yield call
        seen = {sentence.passage_id for sentence in sentences}
        unread = [passage for passage in found.passages if passage.passage_id not in seen]
        for best in unread[: self.settings.passages_read]:
            for passage in (best, *found.neighbours.get(best.passage_id, ())):
                result = yield Read(passage_id=passage.passage_id, question=query)
                sentences += [
                    Sentence(passage_id=passage.passage_id, title=passage.title, text=text) for text in result.sentences
                ]

    def _lead(self, proposals: Iterable[Proposal], sentences: list[Sentence], followed: list[str]) -> str | None:
        """Return the most probable candidate that is a name without a page read yet; None to search no further."""
        if len(followed) == self.settings.follow_ups:
            return None
        known = {" ".join(words(text)) for text in [*followed, *(sentence.title for sentence in sentences)]}
        names = (p.text for p in proposals if any(letter.isupper() for letter in p.text))
        return next((name for name in names if " ".join(words(name)) not in known), None)

    def _submit(self, question: Question, proposal: Proposal) -> Calls:
        """Record the candidate as a claim on the passages that hold it, and submit it; returns the nuggets."""
        claim = claim_text(question.text, proposal.text)
        first: dict[str, Sentence] = {}
        for sentence in proposal.sentences:
            first.setdefault(sentence.passage_id, sentence)
        sources = list(first.values())[: self.settings.sources]
        recorded = []
        for sentence in sources:
            result = yield RecordNugget(passage_id=sentence.passage_id, quotes=[sentence.text], claim=claim)
            recorded += [result.nugget_id] if result.nugget_id else []
        yield Answer(text=proposal.text, passage_ids=[sentence.passage_id for sentence in sources])
        return recorded
