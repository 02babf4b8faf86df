"""Tool calls as chat models make them: how they are described, read, and answered in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from calibrag.agents.protocol import (
    TOOLS,
    Answer,
    EntitySearch,
    MalformedCall,
    Read,
    RecordNugget,
    Result,
    Retract,
    Search,
    ToolCall,
)
from calibrag.models.chat.seam import Tool
from calibrag.records import Passage


def descriptions() -> list[Tool]:
    """Return the tools with the JSON Schemas of their arguments, all of which are required."""
    return [Tool(name=name, description=_purpose(call), parameters=_parameters(call)) for name, call in TOOLS.items()]


def turn_schema(longest_string: int | None, longest_list: int | None) -> dict[str, Any]:
    """Return the JSON Schema of a turn: what the model thinks, and one call, or null for none.

    It keeps to what constrained decoding knows in vLLM, llama.cpp and OpenAI's API: no references, all fields required.

    Parameters
    ----------
    longest_string, longest_list
        Characters of a string and items of a list, at most; None sets no limit, which small models need to end a turn
        and some hosted APIs do not take.
    """
    calls = []
    for tool in descriptions():
        fields = {"tool": {"const": tool.name}, **tool.parameters["properties"]}
        calls.append({**tool.parameters, "properties": fields, "required": list(fields)})
    turn = {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "call": {"anyOf": [*calls, {"type": "null"}]}},
        "required": ["reasoning", "call"],
        "additionalProperties": False,
    }
    return _limited(turn, {"string": ("maxLength", longest_string), "array": ("maxItems", longest_list)})


def described() -> str:
    """Return the tools in words, for a prompt."""
    lines = []
    for tool in descriptions():
        fields = tool.parameters["properties"]
        lines.append(f"- {tool.name}({', '.join(fields)}): {tool.description}")
        lines += [f"    {name}: {field['description']}" for name, field in fields.items()]
    return "\n".join(lines)


def call_of(name: str, arguments: str) -> ToolCall:
    """Return the call that a model made; a ``MalformedCall`` that says what is wrong where it is none.

    Parameters
    ----------
    arguments
        JSON in the model's own words.
    """
    if name not in TOOLS:
        return MalformedCall(
            name=name, arguments=arguments, problem=f"no tool {name!r}; the tools are {', '.join(TOOLS)}"
        )
    try:
        return msgspec.json.decode(arguments or "{}", type=TOOLS[name])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        # a validation error names the field
        return MalformedCall(name=name, arguments=arguments, problem=f"the arguments of {name}: {error}")


def answer_to(call: ToolCall, result: Result, passages_shown: int) -> str:
    """Return what a model is told of its call: the reasons if it was rejected or turned back, else what it found."""
    if result.problem is not None:
        return f"{_REFUSED[type(call)]}: {result.problem}"
    match call:
        case Search() | EntitySearch():
            shown = result.passages[:passages_shown]
            parts = [_passage(passage) for passage in shown]
            for passage in shown:
                parts += [f"beside it, {_passage(other)}" for other in result.neighbours.get(passage.passage_id, ())]
            if result.names:
                parts.append("names: " + ", ".join(f"{name.name} ({name.passages})" for name in result.names))
            return "\n\n".join(parts) or "nothing found"
        case Read():
            return "\n".join(result.sentences) or "nothing that helps"
        case RecordNugget():
            return f"recorded and verified as {result.nugget_id}"
        case Retract():
            return f"{call.nugget_id} is withdrawn"
        case Answer():
            return "accepted"
    raise TypeError(f"must be a tool call (got {type(call).__name__})")


_REFUSED = dict.fromkeys((Search, EntitySearch, Read, Retract, MalformedCall), "rejected") | {
    RecordNugget: "not verified",
    Answer: "turned back",
}


def _passage(passage: Passage) -> str:
    heading = f", {passage.heading}" if passage.heading else ""
    return f"[{passage.passage_id}] {passage.title}{heading}\n{passage.text}"


def _purpose(call: type) -> str:
    return " ".join((call.__doc__ or "").split())


def _parameters(call: type) -> dict[str, Any]:
    """Return the JSON Schema of a call's arguments, without what only msgspec reads."""
    schema = msgspec.json.schema(call)
    own = schema["$defs"][call.__name__]
    fields = {name: _plain(field) for name, field in own["properties"].items()}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _limited(schema: Any, limits: Mapping[str, tuple[str, int | None]]) -> Any:
    """Return a JSON Schema with a limit at each part of a type: type -> its keyword and value, None for no limit."""
    if isinstance(schema, list):
        return [_limited(part, limits) for part in schema]
    if not isinstance(schema, dict):
        return schema
    keyword, most = limits.get(schema.get("type"), ("", None)) if isinstance(schema.get("type"), str) else ("", None)
    inner = {key: _limited(value, limits) for key, value in schema.items()}
    return inner | ({keyword: most} if most is not None else {})


def _plain(field: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in field.items() if key != "default"}
