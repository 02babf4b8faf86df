"""A chat model decides: it is shown the question and what its calls returned, and proposes the next.

With ``style: json_schema`` a turn is one JSON object, reasoning and call, which any server keeps to that knows
constrained decoding; with ``style: tools`` the server's own tool calls are used, several a turn where the model makes
several. The model is never asked how sure it is (spec/bitem section 4).
"""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any, Literal

from calibrag.agents.protocol import Converse, Said, ToolCall
from calibrag.agents.tools import answer_to, call_of, described, descriptions, turn_schema
from calibrag.errors import InputError
from calibrag.models.chat.prompts import Prompt
from calibrag.models.chat.seam import Message, Reply
from calibrag.records import Question, Record

Calls = Generator[ToolCall | Converse, Any, Any]

_BY_SERVER = "The tools are described to you apart."
_SHOWN_AGAIN = 1000
"""Characters of a reply without a call that the model is shown again; one may be as long as the server lets it be."""


class QuestionTypes(Record):
    """Types of questions, and the advice on the form of the answer that goes with each.

    Parameters
    ----------
    advice
        Type -> advice. A type that is not here comes without.
    prompt
        File of the prompt by which the model assigns a type where the question has none; None leaves it out.
    """

    advice: dict[str, str]
    prompt: str | None


class LlmSettings(Record):
    """Settings of the llm policy.

    Parameters
    ----------
    style
        How calls are made: see the module.
    prompt
        File of the prompt: Markdown with ``tools``, ``question`` and ``advice`` as placeholders.
    passages_shown
        Passages of a search that the model is shown, whole, best first.
    longest_string, longest_list
        Characters and items that ``style: json_schema`` lets the model write, see ``tools.turn_schema``.
    types
        See there.
    """

    style: Literal["json_schema", "tools"]
    prompt: str
    passages_shown: int
    longest_string: int | None
    longest_list: int | None
    types: QuestionTypes


class LlmPolicy:
    """A policy as ``protocol.Policy`` wants it; it keeps nothing between questions.

    Raises
    ------
    InputError
        A prompt's file is not as `Prompt` wants it.
    """

    asks = frozenset({Converse})

    def __init__(self, settings: LlmSettings):
        self.settings = settings
        self._prompt = Prompt(settings.prompt)
        self._type_prompt = Prompt(settings.types.prompt) if settings.types.prompt else None
        by_schema = settings.style == "json_schema"
        self._tools = described() if by_schema else _BY_SERVER
        self._how = (
            {"schema": turn_schema(settings.longest_string, settings.longest_list)}
            if by_schema
            else {"tools": descriptions()}
        )
        self.prompts = _system(settings.prompt, self._opening("a", "a"), self._opening("b", "b"))
        if self._type_prompt:
            asked = [self._type_prompt.fill(question=text, types=self._types()) for text in "ab"]
            self.prompts += _system(settings.types.prompt, *asked)

    def __call__(self, question: Question) -> Calls:
        """Yield the calls of one pass."""
        kind = question.type or (yield from self._assigned(question.text))
        advice = self.settings.types.advice
        known = f"Type: {kind}. {advice[kind] if kind in advice else ''}".rstrip() if kind else ""
        messages = self._opening(question.text, known)
        while True:
            said: Said = yield Converse(purpose="next call", messages=list(messages), **self._how)
            reply = said.reply
            if said.problem is not None:
                # servers want the roles in turn, and no message empty
                messages.append(Message(role="assistant", content=reply.text[:_SHOWN_AGAIN] or "(nothing)"))
                messages.append(Message(role="user", content=f"rejected: {said.problem}"))
                continue
            if self.settings.style == "tools":
                made = [(call_of(call.name, call.arguments), call.call_id) for call in reply.tool_calls]
                messages.append(Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls))
            else:
                made = [(call, None) for call in _called(reply)]
                messages.append(Message(role="assistant", content=reply.text))
            if not made:
                return
            for call, call_id in made:
                told = answer_to(call, (yield call), self.settings.passages_shown)
                messages.append(Message(role="tool" if call_id else "user", content=told, call_id=call_id))

    def _opening(self, question: str, advice: str) -> list[Message]:
        return self._prompt.fill(tools=self._tools, question=question, advice=advice)

    def _assigned(self, question: str) -> Generator[Converse, Said, str | None]:
        """Return the type that the model assigns to a question; None where it is not asked or names none."""
        if self._type_prompt is None:
            return None
        types = {"enum": list(self.settings.types.advice)}
        said = yield Converse(
            purpose="question type",
            messages=self._type_prompt.fill(question=question, types=self._types()),
            schema={
                "type": "object",
                "properties": {"type": types},
                "required": ["type"],
                "additionalProperties": False,
            },
            # a question has one type, whatever the pass
            sample=0,
        )
        return said.reply.parsed["type"] if said.problem is None else None

    def _types(self) -> str:
        return "\n".join(f"- {kind}: {advice}" for kind, advice in self.settings.types.advice.items())


def _system(file: str, one: list[Message], other: list[Message]) -> list[str]:
    """Return the system prompts of a file, which must be the same for two questions: traces name them by their hash."""
    prompts = [message.content for message in one if message.role == "system"]
    if prompts != [message.content for message in other if message.role == "system"]:
        raise InputError(file, "must fill in question and advice under '## user', not under '## system'")
    return prompts


def _called(reply: Reply) -> list[ToolCall]:
    """Return the call of a turn by JSON schema; [] for a turn without one."""
    call = reply.parsed["call"]
    if call is None:
        return []
    return [call_of(call["tool"], json.dumps({key: value for key, value in call.items() if key != "tool"}))]
