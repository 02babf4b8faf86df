"""What every chat model takes and returns."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from calibrag.records import Record


class ToolCall(Record):
    """A call that a model makes: ``arguments`` is JSON as the model wrote it, not checked; ``call_id`` is its name."""

    call_id: str
    name: str
    arguments: str


class Tool(Record):
    """A tool that a model may call; ``parameters`` is the JSON Schema of its arguments, an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Message(Record):
    """One message of a conversation.

    The assistant's ``tool_calls`` are each answered by a message of role ``tool`` with their ``call_id``.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: list[ToolCall] = []
    call_id: str | None = None


class Decoding(Record):
    """How text is drawn from the model; None leaves a choice to the server and is not sent.

    ``seed`` is that of sample 0; further samples count on from it. ``logprobs`` is the number of alternatives wanted
    beside each token, 0 for the tokens alone. ``extra`` holds fields of the request that only some servers know.
    """

    temperature: float | None
    max_tokens: int | None
    seed: int | None
    stop: list[str] = []
    logprobs: int | None = None
    extra: dict[str, Any] = {}


class ChatRequest(Record):
    """One call. ``schema`` is the JSON Schema that the reply must keep to; ``sample`` tells equal requests apart.

    ``tools`` may be called instead of answering in words. ``beams`` asks for a beam search of this width, 2 or more,
    which few servers offer, and for all its ends. A request has one of ``schema``, ``tools`` and ``beams`` at most:
    servers heed one of them and pass over the others in silence.
    """

    messages: list[Message]
    decoding: Decoding
    schema: dict[str, Any] | None = None
    tools: list[Tool] = []
    beams: int | None = None
    sample: int = 0

    def __post_init__(self):
        given = [name for name in ("schema", "tools", "beams") if getattr(self, name)]
        if len(given) > 1:
            raise ValueError(
                f"a chat request must have one of schema, tools and beams at most (got {', '.join(given)})"
            )
        if self.beams is not None and self.beams < 2:
            raise ValueError(f"beams must be 2 or more, or None (got {self.beams})")

    def samples(self, n: int) -> list[ChatRequest]:
        """Return requests for n independent replies, from this one's sample index on."""
        return [msgspec.structs.replace(self, sample=self.sample + i) for i in range(n)]


class TokenLogprob(Record):
    """A token, its log-probability (natural, before any grammar), and the likeliest (token, log-probability) pairs."""

    token: str
    logprob: float
    top: list[tuple[str, float]] = []


class Beam(Record):
    """One end of a beam search; ``logprob`` is the sum over its tokens, None where the server does not tell."""

    text: str
    logprob: float | None


class ChatUsage(Record):
    """Tokens of a call over all its draws, None where the server does not tell; ``cached``: nothing was spent now."""

    prompt_tokens: int | None
    completion_tokens: int | None
    cached: bool = False


class Reply(Record):
    """What a model answered.

    ``text`` is "" where the model only called tools. ``reasoning`` is what it thought before, where the server keeps it
    apart from the text. ``beams`` holds all ends of a beam search in the server's order, the best first; the best is
    the text. ``parsed`` is the text as JSON where the request had a schema, else None. ``logprobs`` is None where they
    were not asked for or not given. ``finish_reason`` is the server's word, such as ``stop`` or ``length``.
    ``seconds``, ``attempts`` and ``usage`` count all that the reply took when it was made, retries and ``rejected``
    draws (replies that broke the schema) included.
    """

    text: str
    finish_reason: str
    usage: ChatUsage
    seconds: float
    parsed: Any = None
    tool_calls: list[ToolCall] = []
    reasoning: str | None = None
    beams: list[Beam] = []
    logprobs: list[TokenLogprob] | None = None
    attempts: int = 1
    rejected: int = 0


class ChatModel(Protocol):
    """A chat model.

    ``name`` and ``revision`` say which weights answer, and are part of a cached reply's key; ``host`` is where they
    run, None in this process.
    """

    name: str
    revision: str
    host: str | None

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply.

        Raises
        ------
        ModelCallError
            There is none; what was tried and what to do stand in the message.
        BudgetError
            The budget is spent.
        """

    async def close(self) -> None:
        """Give connections back; a later call opens new ones."""
