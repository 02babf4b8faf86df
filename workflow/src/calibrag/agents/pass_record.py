"""The record of a pass while it is made: events, what models were told and said, and what it all cost."""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from typing import Any

import msgspec

from calibrag.agents.protocol import Converse, Effect, Entail, Entailed, Performed, Proposals, ProposeAnswers, Said
from calibrag.trace import ErrorEvent, ModelEvent, ProposedCall, TraceEvent, Usage

_CHARACTERS_PER_TOKEN = 4
"""What a transcript's length is estimated by where the server does not tell its tokens."""


def prompt_id(text: str) -> str:
    """Return the SHA-256 of a system prompt, in hex, by which traces name it."""
    return hashlib.sha256(text.encode()).hexdigest()


class PassRecord:
    """What has happened in a pass.

    Attributes
    ----------
    turn : int
        Calls so far.
    events : list of TraceEvent
    usage : dict of str to number
        As ``trace.Usage``.
    transcript : int
        Tokens of the longest call of a chat model so far, prompt and reply.

    Parameters
    ----------
    pass_number
        From 1; each pass is a further sample of the same chat model.
    """

    def __init__(self, pass_number: int):
        self.turn = 0
        self.events: list[TraceEvent] = []
        self.usage: dict[str, Any] = dict.fromkeys(Usage.__struct_fields__, 0) | {"cost": None}
        self.transcript = 0
        self._pass_number = pass_number
        # work of the world since the last event, which the next one takes
        self._seconds = 0.0
        # messages of each conversation that are on record
        self._told: dict[str, int] = {}

    def log(self, kind: type[TraceEvent], **fields) -> None:
        """Put an event of this turn on record, with the seconds that were worked for it."""
        self.events.append(kind(turn=self.turn, seconds=self._seconds, **fields))
        self._seconds = 0.0

    def settle(self) -> None:
        """Count what was worked since the last event with it: nothing came of that work."""
        if self.events:
            last = self.events[-1]
            self.events[-1] = msgspec.structs.replace(last, seconds=last.seconds + self._seconds)
        self._seconds = 0.0

    def reject(self, call: str, problem: str, arguments: str = "") -> None:
        """Put a call that is not executed on record."""
        self.usage["rejected_calls"] += 1
        self.log(ErrorEvent, call=call, problem=problem, arguments=arguments)

    def perform(self, effect: Effect) -> Generator[Effect, Performed, Any]:
        """Ask the world, and count what it worked."""
        performed = yield effect
        self._seconds += performed.seconds
        self.usage["seconds"] += performed.seconds
        return performed.value

    def propose(self, call: ProposeAnswers) -> Generator[Effect, Performed, Proposals]:
        """Ask the reader, and put what it says on record."""
        proposals: Proposals = yield from self.perform(call)
        self.usage["model_calls"] += 1
        self.usage["tokens"] += proposals.tokens
        self.log(
            ModelEvent,
            model=proposals.model,
            purpose="propose answers",
            tokens=proposals.tokens,
            candidates=[p.text for p in proposals.proposals],
            probabilities=[p.probability for p in proposals.proposals],
        )
        return proposals

    def converse(self, call: Converse) -> Generator[Effect, Performed, Said]:
        """Ask the chat model, and put on record what it is told now and what it says."""
        sample = self._pass_number - 1 if call.sample is None else call.sample
        said: Said = yield from self.perform(msgspec.structs.replace(call, sample=sample))
        self.usage["model_calls"] += 1
        new = call.messages[self._told.get(call.purpose, 0) :]
        self._told[call.purpose] = len(call.messages)
        prompt = next((prompt_id(message.content) for message in call.messages if message.role == "system"), None)
        sent = [message.content for message in new if message.role in ("user", "tool")]
        reply = said.reply
        usage = reply.usage
        counts = (usage.prompt_tokens, usage.completion_tokens)
        tokens = None if None in counts else sum(counts)
        self.usage["cached_calls"] += usage.cached
        self.usage["tokens"] += tokens or 0
        if said.cost is not None:
            self.usage["cost"] = (self.usage["cost"] or 0.0) + said.cost
        characters = sum(len(message.content) for message in call.messages) + len(reply.text)
        # tokens are those of all draws of the reply, each with the same prompt
        draws = reply.rejected + (said.problem is None)
        drawn = tokens // draws if tokens is not None else None
        self.transcript = max(self.transcript, drawn if drawn is not None else characters // _CHARACTERS_PER_TOKEN)
        if said.problem is not None:
            # a turn that came to nothing, so that an endless row of them ends
            self.turn += 1
        self.log(
            ModelEvent,
            model=said.model,
            purpose=call.purpose,
            prompt=prompt,
            sent=sent,
            text=reply.text,
            reasoning=reply.reasoning,
            calls=[ProposedCall(name=made.name, arguments=made.arguments) for made in reply.tool_calls],
            finish_reason=reply.finish_reason,
            tokens=tokens,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=said.cost,
            cached=usage.cached,
            attempts=reply.attempts,
            rejected=reply.rejected,
        )
        if said.problem is not None:
            self.reject(call.purpose, said.problem)
        return said

    def entail(self, pairs: list[tuple[str, str, str]]) -> Generator[Effect, Performed, list[Entailed]]:
        """Ask the verifier, where there is anything to ask, and count it."""
        if not pairs:
            return []
        entailed: list[Entailed] = yield from self.perform(Entail(pairs=pairs))
        self.usage["entailments"] += len(pairs)
        self.usage["second_entailments"] += sum(each.second_model for each in entailed)
        return entailed
