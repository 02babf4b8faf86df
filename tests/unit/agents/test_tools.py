"""Tools as chat models see them."""

import json

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.agents.protocol import TOOLS, MalformedCall, Result, ToolCall
from calibrag.agents.tools import answer_to, call_of, described, descriptions, turn_schema

CALLS = st.one_of(st.from_type(call) for call in TOOLS.values())


def test_every_tool_and_every_argument_is_described():
    for tool in descriptions():
        assert tool.description
        assert all(field["description"] for field in tool.parameters["properties"].values()), tool.name
    assert all(f"- {name}(" in described() for name in TOOLS)


@given(CALLS)
def test_every_call_passes_its_schema_and_is_read_back(call):
    name = next(name for name, kind in TOOLS.items() if type(call) is kind)
    arguments = msgspec.to_builtins(call)
    turn = {"reasoning": "", "call": {"tool": name, **arguments}}
    jsonschema.validate(turn, turn_schema(None, None))
    assert call_of(name, json.dumps(arguments)) == call


def test_the_schema_admits_a_turn_without_a_call_and_nothing_unknown():
    jsonschema.validate({"reasoning": "done", "call": None}, turn_schema(None, None))
    for wrong in ({"tool": "serch"}, {"tool": "search", "query": "a"}, {"tool": "read", "passage_id": "p", "x": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"reasoning": "", "call": wrong}, turn_schema(None, None))


@given(CALLS, st.integers(1, 9), st.integers(1, 3))
def test_limits_hold_for_every_string_and_list_that_a_model_writes(call, characters, items):
    name = next(name for name, kind in TOOLS.items() if type(call) is kind)
    fields = msgspec.to_builtins(call)
    strings = [text for value in fields.values() for text in (value if isinstance(value, list) else [value])]
    fits = all(len(text) <= characters for text in strings if isinstance(text, str)) and all(
        len(value) <= items for value in fields.values() if isinstance(value, list)
    )
    turn = {"reasoning": "", "call": {"tool": name, **fields}}
    assert jsonschema.Draft202012Validator(turn_schema(characters, items)).is_valid(turn) == fits


@given(st.text(max_size=20), st.text(max_size=40))
def test_whatever_a_model_writes_is_a_call_or_a_malformed_one_that_says_why(name, arguments):
    call = call_of(name, arguments)
    assert isinstance(call, ToolCall)
    assert not isinstance(call, MalformedCall) or call.problem


@given(CALLS)
def test_a_rejected_call_is_answered_with_the_reason(call):
    assert answer_to(call, Result(problem="because"), 3).endswith(": because")


def test_a_search_is_answered_with_the_best_passages_whole():
    from scripted import BESIDE, PASSAGES

    result = Result(passages=PASSAGES, scores=[3.0, 2.0, 1.0], neighbours={"Heat#0": [BESIDE]})
    told = answer_to(TOOLS["search"](query="q"), result, 2)
    assert told.count("[") == 3 and PASSAGES[0].text in told and BESIDE.text in told
    assert PASSAGES[2].text not in told
    assert answer_to(TOOLS["search"](query="q"), Result(), 2) == "nothing found"
