"""Replies that keep to the JSON schema of their request."""

from __future__ import annotations

import msgspec
from jsonschema import Draft202012Validator

from calibrag.errors import SchemaError
from calibrag.models.chat.seam import ChatModel, ChatRequest, ChatUsage, Reply

_APART = 10_000
"""How far the seeds of a sample's redraws lie from those of its neighbours."""
_SHOWN = 200


class StructuredChat:
    """A chat model whose replies are checked and parsed where the request has a schema.

    A reply that breaks the schema is drawn again under another seed. What it had cost is part of the usage of the reply
    that is returned.

    Parameters
    ----------
    chat
        The model.
    redraws
        Further draws, 0 or more.
    """

    def __init__(self, chat: ChatModel, redraws: int):
        self.name = chat.name
        self.revision = chat.revision
        self.host = chat.host
        self._chat = chat
        self._redraws = redraws

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; see ``ChatModel``.

        Raises
        ------
        SchemaError
            No draw kept to the schema.
        """
        if request.schema is None:
            return await self._chat.complete(request)
        validator = Draft202012Validator(request.schema)
        drawn: list[Reply] = []
        for draw in range(self._redraws + 1):
            again = msgspec.structs.replace(request, sample=request.sample + _APART * draw)
            reply = await self._chat.complete(again)
            drawn.append(reply)
            parsed, flaw = _parsed(reply.text, validator)
            if flaw is None:
                return _summed(drawn, parsed, rejected=draw)
        raise SchemaError(
            self.name,
            self.host,
            flaw,
            f"no reply kept to the JSON schema; the last one ({reply.finish_reason}): {flaw}: "
            f"{reply.text[:_SHOWN]!r}; raise models.chat.redraws or max_tokens, or name a stronger model",
            _summed(drawn, None, rejected=len(drawn)),
        )

    async def close(self) -> None:
        """Close the model."""
        await self._chat.close()


def _parsed(text: str, validator: Draft202012Validator) -> tuple[object, str | None]:
    """Return the text as JSON and None, or what is wrong with it."""
    try:
        parsed = msgspec.json.decode(text)
        error = next(validator.iter_errors(parsed), None)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as broken:
        return None, f"not JSON ({broken})"
    return (parsed, None) if error is None else (None, f"{error.json_path}: {error.message[:_SHOWN]}")


def _summed(drawn: list[Reply], parsed: object, rejected: int) -> Reply:
    """Return the last reply, with the cost of all."""
    return msgspec.structs.replace(
        drawn[-1],
        parsed=parsed,
        usage=ChatUsage(
            prompt_tokens=_sum([reply.usage.prompt_tokens for reply in drawn]),
            completion_tokens=_sum([reply.usage.completion_tokens for reply in drawn]),
        ),
        seconds=sum(reply.seconds for reply in drawn),
        attempts=sum(reply.attempts for reply in drawn),
        rejected=rejected,
    )


def _sum(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(counts)
