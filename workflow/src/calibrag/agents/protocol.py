"""What passes between policy, orchestrator and the world.

A policy proposes **tool calls**; the orchestrator executes or rejects each and answers with a ``Result``.
What needs a model or an index is asked of the world as an **effect**.

=================  ==================  ========================================
who yields         what                who answers
=================  ==================  ========================================
policy             ``ToolCall``        orchestrator, with a ``Result``
policy             ``ProposeAnswers``  execution, passed through and recorded
orchestrator       ``Effect``          execution
=================  ==================  ========================================
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from calibrag.records import Hit, NameCount, Passage, Question, Record

# --- tool calls (spec/bitem section 3) -----------------------------------------------------------


class Search(Record):
    """Ask the indexes for passages, and for as many neighbours on each side of them in their documents."""

    query: str
    neighbours: int = 0


class EntitySearch(Record):
    """Ask for the passages that carry a name, and for the names that these carry."""

    name: str


class Read(Record):
    """Ask for the sentences of one retrieved passage that bear on a question."""

    passage_id: str
    question: str


class RecordNugget(Record):
    """Put a claim on record, with the words of the passage that it rests on."""

    passage_id: str
    quotes: list[str]
    claim: str


class Retract(Record):
    """Withdraw a nugget that later reading contradicts."""

    nugget_id: str


class Answer(Record):
    """Submit an answer with its supporting passages; ``text`` None is a refusal to answer."""

    text: str | None
    passage_ids: list[str]


ToolCall = Search | EntitySearch | Read | RecordNugget | Retract | Answer


class Result(Record):
    """The orchestrator's answer to a tool call.

    ``problem`` says why a call was rejected or an answer turned back, condition by condition; the other
    fields hold what the call returned. ``neighbours`` maps a passage found to those beside it, which are not ranked.
    """

    problem: str | None = None
    passages: list[Passage] = []
    scores: list[float] = []
    neighbours: dict[str, list[Passage]] = {}
    names: list[NameCount] = []
    sentences: list[str] = []
    nugget_id: str | None = None
    verified: bool = False


# --- effects -------------------------------------------------------------------------------------


class Retrieve(Record):
    """Search the collection without some passages; answered by a ``Retrieval``."""

    qid: str
    query: str
    excluded: frozenset[str]
    neighbours: int = 0


class Retrieved(Record):
    """A passage and its place in one ranking; ``sources`` as in ``records.SearchEvent``."""

    hit: Hit
    passage: Passage
    sources: str = ""


class Retrieval(Record):
    """What a search found, best first, the passages beside each, and the names that the graph joins."""

    found: list[Retrieved]
    neighbours: dict[str, list[Passage]] = {}
    graph_names: list[str] = []


class FindName(Record):
    """Ask for the passages that carry a name, without some; answered by a ``NameMatches``.

    At most so many ``passages`` and ``names`` are returned.
    """

    name: str
    excluded: frozenset[str]
    passages: int
    names: int


class NameMatches(Record):
    """The passages that carry a name, best first, and the names that they carry, most frequent first."""

    found: list[Retrieved]
    names: list[NameCount]


class Entail(Record):
    """Ask whether premises entail claims; answered by P(entails) of each pair.

    A pair is (lead, premise, claim); the lead, a passage's title and heading, says whom the premise's "he" means.
    """

    pairs: list[tuple[str, str, str]]


class Sentence(Record):
    """A sentence of a passage, as a reader sees it."""

    passage_id: str
    title: str
    text: str


class ProposeAnswers(Record):
    """Ask the reader for answers found in sentences; answered by a ``Proposals``."""

    question: str
    sentences: list[Sentence]


class Proposal(Record):
    """A candidate answer, its share of the reader's probability, and the sentences that hold it."""

    text: str
    probability: float
    sentences: list[Sentence]


class Proposals(Record):
    """The reader's candidates, in the order in which it found them, and what the call cost."""

    model: str
    proposals: list[Proposal]
    tokens: int


Effect = Retrieve | FindName | Entail | ProposeAnswers


class Policy(Protocol):
    """What decides the next tool call of a pass; ending is a turn without a call."""

    def __call__(self, question: Question) -> Generator[ToolCall | ProposeAnswers, Any, None]:
        """Return a generator of calls, which is sent the answer to each."""
