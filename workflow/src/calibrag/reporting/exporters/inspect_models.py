"""Model calls of a trace as those of inspect_ai: the transcript grows from call to call, for each purpose by itself."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall

from calibrag import trace as ours

STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
"""Servers' words for why a reply ended -> those of inspect_ai, which calls all others unknown."""


def parsed(arguments: str) -> dict[str, Any]:
    """Return a call's arguments; where they are no JSON object, the text itself as the argument ``unparsed``."""
    try:
        value = json.loads(arguments or "{}")
    except json.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {"unparsed": arguments}


class Transcript:
    """What was said between agent and models in one pass; ``name`` makes the names of messages."""

    def __init__(self, name: str, prompts: Mapping[str, str]):
        self.name = name
        self.prompts = prompts
        self.said: list[ChatMessage] = []
        self._of: dict[str, list[ChatMessage]] = defaultdict(list)
        self._usage: dict[str, ModelUsage] = {}

    def usage(self) -> dict[str, ModelUsage]:
        """Return what each model was used so far."""
        return dict(self._usage)

    def model_event(self, event: ours.ModelEvent) -> dict[str, Any]:
        """Return kind and fields of a model event, and take what it says into the transcript."""
        messages = self._of[event.purpose]
        if event.prompt and not messages:
            text = self.prompts.get(event.prompt, f"prompt {event.prompt}")
            self._say(messages, ChatMessageSystem(content=text, id=self._next()))
        for text in event.sent:
            self._say(messages, ChatMessageUser(content=text, id=self._next()))
        asked = list(messages)
        reply = self._reply(event)
        self._say(messages, reply)
        usage = ModelUsage(
            input_tokens=event.prompt_tokens or 0,
            output_tokens=event.completion_tokens or 0,
            total_tokens=event.tokens or 0,
            total_cost=event.cost,
        )
        self._usage[event.model] = self._usage.get(event.model, ModelUsage()) + usage
        choice = ChatCompletionChoice(message=reply, stop_reason=STOPS.get(event.finish_reason, "unknown"))
        return dict(
            kind=ModelEvent,
            model=event.model,
            role=event.purpose,
            input=asked,
            tools=[],
            tool_choice="auto",
            config=GenerateConfig(),
            output=ModelOutput(model=event.model, choices=[choice], usage=usage, time=event.seconds),
            retries=event.attempts - 1,
            cache="read" if event.cached else None,
            working_time=event.seconds,
        )

    def _reply(self, event: ours.ModelEvent) -> ChatMessageAssistant:
        scored = zip(event.candidates, event.probabilities, strict=True)
        # a reader scores candidates and writes nothing
        text = event.text if event.text is not None else "\n".join(f"{share:.3f}  {name}" for name, share in scored)
        name = self._next()
        calls = [
            ToolCall(id=f"{name}/{number}", function=call.name, arguments=parsed(call.arguments))
            for number, call in enumerate(event.calls)
        ]
        thought = [ContentReasoning(reasoning=event.reasoning)] if event.reasoning else []
        content = [*thought, ContentText(text=text)]
        return ChatMessageAssistant(content=content, tool_calls=calls or None, model=event.model, id=name)

    def _say(self, messages: list[ChatMessage], message: ChatMessage) -> None:
        messages.append(message)
        self.said.append(message)

    def _next(self) -> str:
        return f"{self.name}/message/{len(self.said)}"
