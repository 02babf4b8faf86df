"""What passes between policy, orchestrator and the world.

A policy proposes **tool calls**; the orchestrator executes or rejects each and answers with a ``Result``.
What needs a model or an index is asked of the world as an **effect**; the world answers with a ``Performed``.

=================  ==================================  ========================================
who yields         what                                who answers
=================  ==================================  ========================================
policy             ``ToolCall``                        orchestrator, with a ``Result``
policy             ``ProposeAnswers``, ``Converse``    execution, passed through and recorded
orchestrator       ``Effect``                          execution
=================  ==================================  ========================================
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated, Any, NamedTuple, Protocol

from msgspec import Meta

from calibrag.models.chat.seam import Message, Reply, Tool
from calibrag.records import Hit, NameCount, Passage, Question, Record

# --- tool calls (spec/bitem section 3) -----------------------------------------------------------


# A chat model is told of a tool by its docstring's first line and its fields' descriptions.


class Search(Record):
    """Search the collection. Returns the best passages, each with its passage_id, and on request their neighbours."""

    query: Annotated[str, Meta(description="what to search for: names and key words, or a question")]
    neighbours: Annotated[int, Meta(description="neighbouring passages wanted on each side of each; mostly 0")] = 0


class EntitySearch(Record):
    """Find the passages that carry a name, and the other names in them, the most frequent first."""

    name: Annotated[str, Meta(description="the name of a person, work, place or organisation")]


class Read(Record):
    """Get the useful sentences of one passage that a search returned."""

    passage_id: Annotated[str, Meta(description="as a search returned it")]
    question: Annotated[str, Meta(description="what the sentences are wanted for")]


class RecordNugget(Record):
    """Put a claim on record as evidence. It is checked: the quotes must stand in the passage, which must entail it."""

    passage_id: Annotated[str, Meta(description="as a search returned it")]
    quotes: Annotated[list[str], Meta(description="words copied from the passage, on which the claim rests")]
    claim: Annotated[str, Meta(description="one sentence that stands by itself, with all names spelled out")]


class Retract(Record):
    """Withdraw a claim that later reading contradicts."""

    nugget_id: Annotated[str, Meta(description="as record returned it")]


class Answer(Record):
    """Submit the answer with the passages that support it. It may be turned back, with the reasons."""

    text: Annotated[str | None, Meta(description="the answer alone, short; null where the passages hold none")]
    passage_ids: Annotated[list[str], Meta(description="passages that support it")]


class MalformedCall(Record):
    """What a model wrote where a call should stand; it is rejected for its ``problem``."""

    name: str
    arguments: str
    problem: str


ToolCall = Search | EntitySearch | Read | RecordNugget | Retract | Answer | MalformedCall

TOOLS: dict[str, type[Record]] = {
    "search": Search,
    "entity_search": EntitySearch,
    "read": Read,
    "record": RecordNugget,
    "retract": Retract,
    "answer": Answer,
}
"""The tools by the names that models call them by (spec/bitem section 3)."""


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


class Performed(NamedTuple):
    """The world's answer to an effect, and the seconds that models and indexes worked for it."""

    value: Any
    seconds: float = 0.0


class Retrieve(Record):
    """Search the collection without some passages; answered by a ``Retrieval``."""

    qid: str
    query: str
    excluded: frozenset[str]
    neighbours: int = 0


class Retrieved(Record):
    """A passage and its place in one ranking; ``sources`` as in ``trace.SearchEvent``."""

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
    """Ask whether premises entail claims; answered by an ``Entailed`` for each pair.

    A pair is (lead, premise, claim); the lead, a passage's title and heading, says whom the premise's "he" means.
    """

    pairs: list[tuple[str, str, str]]


class Entailed(Record):
    """P(entails) in [0, 1], and whether the verifier's second model said so, since the first was uncertain."""

    score: float
    second_model: bool = False


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


class Converse(Record):
    """Ask the chat model to go on; answered by a ``Said``.

    ``purpose`` as in ``trace.ModelEvent``; ``schema`` and ``tools`` as in ``models.chat.seam.ChatRequest``.
    ``messages`` only ever grow within a pass and purpose. ``sample`` as there; None takes a further one in every pass.
    """

    purpose: str
    messages: list[Message]
    schema: dict[str, Any] | None = None
    tools: list[Tool] = []
    sample: int | None = None


class Said(Record):
    """What a chat model said, and what that cost; ``problem`` says how the reply breaks its schema."""

    model: str
    reply: Reply
    cost: float | None = None
    problem: str | None = None


Effect = Retrieve | FindName | Entail | ProposeAnswers | Converse


class Policy(Protocol):
    """What decides the next tool call of a pass; ending is a turn without a call.

    ``asks`` holds the effects by which it asks a model itself; ``prompts`` are the system prompts that it may use, in
    full.
    """

    asks: frozenset[type]
    prompts: list[str]

    def __call__(self, question: Question) -> Generator[ToolCall | ProposeAnswers | Converse, Any, None]:
        """Return a generator of calls, which is sent the answer to each."""
