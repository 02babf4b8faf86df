"""A chat model behind an OpenAI-compatible URL: vLLM, llama.cpp, Ollama, or a hosted one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
import openai

from calibrag.errors import CallFault, ModelCallError
from calibrag.models.chat.retrying import Retrying, TransientError, retry_after
from calibrag.models.chat.seam import Beam, ChatRequest, ChatUsage, Message, Reply, TokenLogprob, Tool, ToolCall

_LARGEST_BODY = 32 << 20
"""Bytes of a reply that are read; a server that writes on and on would else fill the memory."""
_SHOWN = 300
"""Characters of a server's own message that an error quotes."""
_AGAIN = {408, 409, 429} | set(range(500, 600)) - {501, 505}
"""Statuses that another attempt may mend; 501 and 505 say that the server cannot do what is asked."""


class _Body(msgspec.Struct):
    """The part of a server's reply that is read."""

    choices: list[_Choice]
    usage: _Usage | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    # vLLM, llama.cpp and DeepSeek call it the one, Ollama and later vLLM the other
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _ToolCall(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Function(msgspec.Struct):
    name: str
    # some servers send the object itself
    arguments: str | dict[str, Any] | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int = 0


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


class _Alternative(msgspec.Struct):
    token: str
    logprob: float


class _Token(msgspec.Struct):
    token: str
    logprob: float
    top_logprobs: list[_Alternative] | None = None


_DECODER = msgspec.json.Decoder(_Body)


class OpenAIChat:
    """Calls a server, again where that may help, and never more than some calls at a time.

    Connections belong to the event loop that first calls; `close` before another loop does.

    Parameters
    ----------
    base_url
        Where the API starts, such as ``http://127.0.0.1:8000/v1``.
    name, revision
        The model as the server calls it, and its version as a person writes it down: commit, quantisation, date.
    api_key
        None for a server that wants none. It is sent, and blotted out of whatever the server sends back.
    concurrency
        Calls in flight, 1 or more.
    timeout_s
        Longest time of one attempt, from sending to the last byte.
    retrying
        How often and when a failed attempt is repeated.
    clock
        Seconds that only rise.
    """

    def __init__(
        self,
        base_url: str,
        name: str,
        revision: str,
        *,
        api_key: str | None,
        concurrency: int,
        timeout_s: float,
        retrying: Retrying,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.name = name
        self.revision = revision
        parts = urlsplit(base_url)
        self.host = parts.hostname + (f":{parts.port}" if parts.port else "")
        self._base_url = base_url
        self._api_key = api_key
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._retrying = retrying
        self._clock = clock
        self._client: openai.AsyncOpenAI | None = None

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; see ``ChatModel``. Its slot is held between attempts, which spares a busy server."""
        if self._client is None:
            self._open()
        arguments = _arguments(self.name, request)

        async def attempt(number: int) -> tuple[_Body, int]:
            return self._decoded(await self._body(arguments, number), number), number

        async with self._slots:
            started = self._clock()
            body, attempts = await self._retrying.run(attempt)
            if request.beams is not None:
                self._check_beams(body, request.beams, attempts)
            return _reply(body, request, self._clock() - started, attempts)

    async def close(self) -> None:
        """Give connections back; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open(self) -> None:
        self._client = openai.AsyncOpenAI(
            base_url=self._base_url,
            # the client wants some key, and would take another server's from the environment
            api_key=self._api_key or "none",
            timeout=self._timeout_s,
            max_retries=0,
        )
        self._slots = asyncio.Semaphore(self._concurrency)

    async def _body(self, arguments: dict[str, Any], number: int) -> bytes:
        """Return the bytes of a good reply."""
        try:
            # the client's own limit is one of silence: a reply that trickles in would never meet it
            async with (
                asyncio.timeout(self._timeout_s),
                # what is extra goes out as it is; the rest the client walks through, which took most of a call's time
                self._client.chat.completions.with_streaming_response.create(
                    model=self.name, messages=(), extra_body=arguments
                ) as response,
            ):
                body = bytearray()
                async for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _LARGEST_BODY:
                        raise self._error(
                            "malformed",
                            f"the reply exceeds {_LARGEST_BODY >> 20} MB; the server does not heed max_tokens",
                            number,
                        )
                return self._blotted(bytes(body))
        except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException):
            problem = f"no whole reply within {self._timeout_s:g} s; raise models.chat.timeout_s, or ask for less"
            raise TransientError(self._error("timeout", problem, number)) from None
        except openai.APIStatusError as error:
            raise self._of_status(error, number) from None
        except openai.APIConnectionError as error:
            cause = type(error.__cause__).__name__ if error.__cause__ else "no connection"
            problem = f"{cause}; check models.chat.server.base_url, and that the server runs"
            raise TransientError(self._error("unreachable", problem, number)) from None
        except openai.OpenAIError as error:
            raise self._error("invalid", self._quoted(str(error)), number) from None
        # the transport's own errors come through once the headers are there
        except httpx2.HTTPError as error:
            problem = f"the body broke off ({type(error).__name__})"
            raise TransientError(self._error("malformed", problem, number)) from None

    def _decoded(self, body: bytes, number: int) -> _Body:
        try:
            decoded = _DECODER.decode(body)
            if decoded.choices:
                return decoded
            problem = "no choices"
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problem = str(error)
        start = self._quoted(body[:_SHOWN].decode(errors="replace"))
        raise TransientError(self._error("malformed", f"the body is no chat completion ({problem}): {start!r}", number))

    def _check_beams(self, body: _Body, asked: int, attempts: int) -> None:
        """Raise if a server did not heed the wish for beams: one reply, or the same one drawn several times."""
        ends = [choice.message.content for choice in body.choices]
        if len(ends) != asked or len(set(ends)) == 1:
            raise self._error(
                "invalid",
                f"the server offers no beam search: {asked} beams were asked for, it gave {len(ends)} replies, "
                f"{len(set(ends))} of them different; serve the model by vLLM, or ask for no beams",
                attempts,
            )

    def _of_status(self, error: openai.APIStatusError, number: int) -> Exception:
        """Return what to raise for a status of 400 or more."""
        body, status, code = error.body, error.status_code, str(error.code)
        said = self._quoted(
            str(body["message"]) if isinstance(body, dict) and "message" in body else error.response.text
        )
        if status == 429 and code == "insufficient_quota":
            return self._error("denied", f"the account's quota is spent ({said})", number, status)
        if status in _AGAIN:
            fault: CallFault = "busy" if status == 429 else "timeout" if status == 408 else "server"
            wait = retry_after(error.response.headers)
            asked = f"; it asks to wait {wait:g} s" if wait is not None else ""
            do = "lower models.chat.concurrency" if status == 429 else "see the server's log"
            return TransientError(
                self._error(fault, f"{said}{asked}; {do}, or raise models.chat.max_attempts", number, status), wait
            )
        if _is_context_overflow(code, said) or status == 413:
            return self._error("too_long", f"it exceeds the context ({said}); ask for less", number, status)
        match status:
            case 401 | 403:
                do = "set the variable that models.chat.server.api_key_env names to a valid key"
                return self._error("denied", f"{said}; {do}", number, status)
            case 404:
                do = "check models.chat.model and models.chat.server.base_url, which usually ends in /v1"
                return self._error("unknown", f"{said}; {do}", number, status)
            case _:
                return self._error("invalid", f"{said}; the request is wrong and is not repeated", number, status)

    def _error(self, fault: CallFault, problem: str, attempts: int, status: int | None = None) -> ModelCallError:
        return ModelCallError(fault, self.name, self.host, problem, status, attempts)

    def _quoted(self, text: str) -> str:
        """Return a server's words on one line, cut, without the key."""
        line = self._blotted(" ".join(text.split()).encode()).decode(errors="replace")
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"

    def _blotted(self, content: bytes) -> bytes:
        return content.replace(self._api_key.encode(), b"***") if self._api_key else content


def _arguments(model: str, request: ChatRequest) -> dict[str, Any]:
    """Return the fields of the HTTP request."""
    decoding = request.decoding
    extra = decoding.extra if request.beams is None else decoding.extra | {"use_beam_search": True}
    arguments: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "tools": [_tool(tool) for tool in request.tools] or None,
        "n": request.beams,
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_tokens,
        "seed": decoding.seed + request.sample if decoding.seed is not None else None,
        "stop": decoding.stop or None,
        # what a beam is worth is the sum over its tokens
        "logprobs": True if decoding.logprobs is not None or request.beams is not None else None,
        "top_logprobs": decoding.logprobs or None,
    }
    if request.schema is not None:
        # tool_choice is not enforced by llama.cpp, response_format is
        schema = {"name": "reply", "schema": request.schema, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {key: value for key, value in arguments.items() if value is not None} | extra


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if not message.tool_calls:
        return {"role": message.role, "content": message.content}
    calls = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": _readable(call.arguments)},
        }
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": message.content or None, "tool_calls": calls}


def _readable(arguments: str) -> str:
    """Return arguments that a server can read; it parses them for the chat template, and refuses what is no object."""
    try:
        msgspec.json.decode(arguments, type=dict)
        return arguments
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return msgspec.json.encode({"not_json": arguments}).decode()


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _reply(body: _Body, request: ChatRequest, seconds: float, attempts: int) -> Reply:
    choice, usage = body.choices[0], body.usage
    message = choice.message
    # call ids stay apart over the whole conversation
    earlier = sum(len(said.tool_calls) for said in request.messages)
    return Reply(
        text=message.content or message.refusal or "",
        finish_reason=choice.finish_reason or "unknown",
        usage=ChatUsage(
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
        ),
        tool_calls=[
            ToolCall(
                call_id=call.id or f"call_{number}",
                name=call.function.name,
                arguments=_written(call.function.arguments),
            )
            for number, call in enumerate(message.tool_calls or (), earlier + 1)
        ],
        reasoning=message.reasoning_content or message.reasoning,
        # in the server's order: vLLM ranks beams by their mean over the tokens
        beams=[] if request.beams is None else [_beam(end) for end in body.choices],
        logprobs=None if request.decoding.logprobs is None else _logprobs(choice),
        seconds=seconds,
        attempts=attempts,
    )


def _written(arguments: str | dict[str, Any] | None) -> str:
    if isinstance(arguments, dict):
        return msgspec.json.encode(arguments).decode()
    return arguments or ""


def _logprobs(choice: _Choice) -> list[TokenLogprob] | None:
    tokens = choice.logprobs.content if choice.logprobs is not None else None
    if tokens is None:
        return None
    return [
        TokenLogprob(
            token=token.token,
            logprob=token.logprob,
            top=[(other.token, other.logprob) for other in token.top_logprobs or ()],
        )
        for token in tokens
    ]


def _beam(choice: _Choice) -> Beam:
    tokens = _logprobs(choice)
    return Beam(
        text=choice.message.content or "",
        logprob=None if tokens is None else sum(token.logprob for token in tokens),
    )


def _is_context_overflow(code: str, message: str) -> bool:
    """Return whether a server complains of the length; only OpenAI has a code for it."""
    # "too long" alone may be said of a name or of any field
    phrases = ("context length", "context size", "context window", "maximum context", "prompt is too long")
    return code == "context_length_exceeded" or any(phrase in message.casefold() for phrase in phrases)
