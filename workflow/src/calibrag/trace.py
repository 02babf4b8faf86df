"""The record of a pass over a question, event by event, and what is filed from such records.

All records refuse unknown fields; ``confidence`` and ``entailment`` lie in [0, 1], and a missing value is None.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from calibrag.records import Hit, NameCount, Record

SCHEMA_VERSION = 4
"""Version of the trace schema; raised when a field changes its meaning."""


Aspect = Literal[
    "searches", "hits", "reads", "calls", "turns", "reasoning", "nuggets", "gate", "confidence", "tokens", "seconds"
]
"""What a trace may hold of a pass, beside its answer.

``searches``: how many and for what; ``hits``: what they found; ``reads``: passages read; ``calls``: calls, rejected
ones included; ``turns``: how many; ``reasoning``: the model's own words, turn by turn; ``nuggets``: claims with their
entailment; ``gate``: answers that were turned back; ``confidence``: that of each submission; ``tokens``, ``seconds``.
"""

ASPECTS: tuple[Aspect, ...] = get_args(Aspect)


class Event(Record, tag_field="event", kw_only=True):
    """Base of the trace events.

    ``turn`` counts the agent's calls from 1; ``seconds`` is what models and indexes took for this event, a batch's time
    shared evenly; a reply that was replayed from the cache counts what it took when it was made.
    """

    turn: int
    seconds: float = 0.0


class SearchEvent(Event, tag="search"):
    """A search and what it returned; excluded passages are listed once, in ``Trace.excluded``.

    ``sources`` names, for each hit, the first stages that found it: ``lexical``, ``dense``, ``graph``, with spaces
    between. ``neighbours`` maps a hit to the passages beside it that came along, unranked, in the document's order.
    ``graph_names`` are the names of the query that the co-occurrence graph joins; [] where it did not match.
    """

    query: str
    hits: list[Hit]
    sources: list[str] = []
    neighbours: dict[str, list[str]] = {}
    graph_names: list[str] = []


class EntitySearchEvent(Event, tag="entity_search"):
    """A search by name: the passages that carry it, and the names that these carry, most frequent first.

    The hits' scores have a scale of their own: above 1 where the passage carries the very name.
    """

    name: str
    hits: list[Hit]
    names: list[NameCount]


class ReadEvent(Event, tag="read"):
    """A reading of one passage: the sentences returned, and whether words or entailment chose them."""

    passage_id: str
    question: str
    sentences: list[str]
    chosen_by: Literal["lexical", "entailment"]


class ProposedCall(Record):
    """A tool call in a model's own words; ``arguments`` is JSON as it came, which may be broken."""

    name: str
    arguments: str


class ModelEvent(Event, tag="model"):
    """One call of a model, and what it said.

    Parameters
    ----------
    model
        Name and revision.
    purpose
        What was asked for: ``next call``, ``question type`` or ``propose answers``.
    prompt
        SHA-256 of the system prompt, whose text lies beside the traces in ``prompts.json``; None for none.
    sent
        What was said to the model since its last call for this purpose: the question, the results of its calls. With
        the replies in between, this is the whole transcript.
    text, reasoning, calls
        Its reply; ``reasoning`` is what it thought before it.
    finish_reason
        The server's word; None where no text is written.
    tokens
        Prompt and reply together, or what a reader computed; None where a server does not tell.
    prompt_tokens, completion_tokens
        The same apart, of a chat model.
    cost
        By the configured prices; None without prices.
    cached
        The reply was asked for before, and nothing was spent now.
    attempts, rejected
        Calls that the reply took, and draws that broke its schema.
    candidates, probabilities
        What a reader scored, in the order found, and each one's share.
    """

    model: str
    purpose: str
    prompt: str | None = None
    sent: list[str] = []
    text: str | None = None
    reasoning: str | None = None
    calls: list[ProposedCall] = []
    finish_reason: str | None = None
    tokens: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    cached: bool = False
    attempts: int = 1
    rejected: int = 0
    candidates: list[str] = []
    probabilities: list[float] = []


class RecordEvent(Event, tag="record"):
    """A claim put forward as a nugget; ``nugget_id`` is None where it was rejected outright.

    ``second_model``: the entailment is that of the verifier's second model, for the first one's was uncertain.
    """

    passage_id: str
    quotes: list[str]
    claim: str
    entailment: float | None
    verified: bool
    reason: str | None
    nugget_id: str | None
    second_model: bool = False


class RetractEvent(Event, tag="retract"):
    """A nugget withdrawn; ``reason`` says why the call was rejected."""

    nugget_id: str
    accepted: bool
    reason: str | None


class AnswerEvent(Event, tag="answer"):
    """An answer submitted; ``text`` None is a refusal. The gate's ruling is the next event."""

    text: str | None
    passage_ids: list[str]
    origin: Literal["own", "fallback"] = "own"
    source_pass: int | None = None


class Condition(Record):
    """One condition of the gate: what it wants, what it got, and whether that passes."""

    name: Literal["passages", "format", "evidence", "confidence"]
    wanted: str
    got: str
    passed: bool


class GateEvent(Event, tag="gate"):
    """The gate's ruling on the answer before it.

    ``conditions`` are those that were looked at, none for a fallback; ``confidence`` in [0, 1] is that of the answer,
    and ``numbers`` are what it was computed from, by their names in the rule ``Trace.confidence_rule``.
    """

    accepted: bool
    confidence: float
    conditions: list[Condition]
    numbers: dict[str, float]


class ErrorEvent(Event, tag="error"):
    """A rejected call or a fault; ``call`` names the tool, ``arguments`` is the call as JSON."""

    call: str
    problem: str
    arguments: str = ""


TraceEvent = (
    SearchEvent
    | EntitySearchEvent
    | ReadEvent
    | ModelEvent
    | RecordEvent
    | RetractEvent
    | AnswerEvent
    | GateEvent
    | ErrorEvent
)


class Nugget(Record):
    """A recorded claim; ``entailment`` in [0, 1]; ``verified`` = quotes stand in the passage and it entails."""

    nugget_id: str
    passage_id: str
    quotes: list[str]
    claim: str
    entailment: float
    verified: bool
    retracted: bool = False


class Submission(Record):
    """An answer put to the gate; ``text`` None is a refusal. ``origin`` names a fallback's source.

    ``confidence`` is None only in a trace from elsewhere that records none.
    """

    turn: int
    text: str | None
    passage_ids: list[str]
    confidence: float | None
    accepted: bool
    reasons: list[str]
    origin: Literal["own", "fallback"] = "own"
    source_pass: int | None = None


class Usage(Record):
    """What a pass cost.

    ``model_calls`` counts calls of chat models and readers, ``cached_calls`` those of them that were replayed;
    ``tokens`` leaves out calls whose server does not tell; ``second_entailments`` counts the entailments that the
    verifier's second model decided; ``cost`` is None without prices; ``seconds`` is the sum over the events.
    """

    searches: int = 0
    entity_searches: int = 0
    tool_calls: int = 0
    rejected_calls: int = 0
    model_calls: int = 0
    cached_calls: int = 0
    tokens: int = 0
    entailments: int = 0
    second_entailments: int = 0
    cost: float | None = None
    seconds: float = 0.0


class Provenance(Record):
    """What made a trace: release, fingerprint of the code, fingerprint of the settings, part -> model."""

    release: str
    code: str
    settings: str
    models: dict[str, str]


class Trace(Record, kw_only=True):
    """The record of one pass over one question.

    ``status``: ``ok``; ``error`` (the fault is the last event); ``skipped`` (the gated fourth pass).
    ``answer`` is the accepted submission's text, None for a refusal or where nothing was accepted.
    ``retrieved`` maps each passage that a search ranked to its best score. Neighbours and what an entity search found
    have no such score: the pass may read and record them, and they reach a run by their evidence alone.
    ``stop_reason``: ``accepted``; ``no_call`` (a turn without a tool call); a limit of turns, tokens, time, or of the
    model's context; ``error``; ``skipped``. ``provenance`` is None in a trace that came from elsewhere.
    ``recorded`` names what such a trace holds: nothing follows from the absence of anything else; None: all of it.
    ``telemetry`` are further numbers of the pass by name, such as a model's perplexity.

    Raises
    ------
    ValueError
        The trace is of another version of this schema.
    """

    schema_version: int = SCHEMA_VERSION
    collection: str
    system: str
    qid: str
    pass_number: int
    excluded: list[str]
    events: list[TraceEvent]
    nuggets: list[Nugget]
    submissions: list[Submission]
    retrieved: dict[str, float]
    answer: str | None
    confidence: float | None
    confidence_rule: str
    stop_reason: Literal[
        "accepted", "no_call", "turn_limit", "token_limit", "time_limit", "context_limit", "error", "skipped"
    ]
    status: Literal["ok", "error", "skipped"]
    usage: Usage
    provenance: Provenance | None = None
    recorded: list[Aspect] | None = None
    telemetry: dict[str, float] = {}

    def records(self, aspect: Aspect) -> bool:
        """Return whether the trace holds this of the pass, so that its absence would mean something."""
        return self.recorded is None or aspect in self.recorded

    def __post_init__(self):
        if self.schema_version != SCHEMA_VERSION:
            raise ValueError(
                f"schema_version must be {SCHEMA_VERSION} (got {self.schema_version}): a trace of another release; "
                "remove the file and run the workflow again"
            )

    def holds(self, *aspects: Aspect) -> bool:
        """Return whether the trace records all of these aspects of its pass."""
        return self.recorded is None or set(aspects) <= set(self.recorded)


def without_measurements(trace: Trace) -> Trace:
    """Return the trace without what differs between two runs that did the same.

    That is seconds, what a cache replayed, and how often a server had to be asked.
    """
    network = {"cached": False, "attempts": 1}
    events = [
        msgspec.structs.replace(event, seconds=0.0, **(network if isinstance(event, ModelEvent) else {}))
        for event in trace.events
    ]
    usage = msgspec.structs.replace(trace.usage, seconds=0.0, cached_calls=0)
    return msgspec.structs.replace(trace, events=events, usage=usage)


class RunEntry(Record):
    """One question's answer in an answer run; ``answer`` None is a refusal.

    ``origin`` says which submission was filed: ``pass-1 turn 9``, or ``pass-3 turn 9 (turned back)``; ``pass_number``
    is the pass that it is of, None where no pass has it.
    """

    run: str

    qid: str
    answer: str | None
    confidence: float
    nuggets: list[Nugget]
    passage_run: str
    origin: str
    pass_number: int | None = None
