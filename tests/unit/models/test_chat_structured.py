"""Replies held to a JSON schema."""

import re

import pytest
from chat_server import ScriptedChat, request
from hypothesis import given
from hypothesis import strategies as st

from calibrag.errors import ModelCallError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.structured import StructuredChat

SCHEMA = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}
ASKED = request(schema=SCHEMA)


def complete(chat, redraws, asked=ASKED):
    (outcome,) = complete_all(StructuredChat(chat, redraws), [asked], 1)
    return outcome


def in_turn(*texts):
    rest = iter(texts)
    return ScriptedChat(lambda _: next(rest))


def test_a_reply_that_keeps_to_the_schema_is_parsed():
    reply = complete(in_turn('{"names": ["Ada", "Zoë"]}'), 2)
    assert reply.parsed == {"names": ["Ada", "Zoë"]}
    assert reply.rejected == 0


def test_a_request_without_schema_passes_through():
    reply = complete(in_turn("not JSON"), 2, request())
    assert (reply.text, reply.parsed) == ("not JSON", None)


@pytest.mark.parametrize(
    "broken",
    ['{"names": ["Ada"', "", "Sure! {}", '{"names": "Ada"}', "{}", '{"names": [], "more": 1}', "null", "[" * 100_000],
)
def test_a_reply_that_breaks_the_schema_is_drawn_again_under_another_seed(broken):
    chat = in_turn(broken, '{"names": []}')
    reply = complete(chat, 1)
    assert reply.parsed == {"names": []}
    assert reply.rejected == 1
    first, second = chat.requests
    assert second.sample not in {asked.sample for asked in first.samples(100)}


def test_what_the_rejected_draws_cost_is_part_of_the_reply():
    reply = complete(in_turn("no", "no", '{"names": []}'), 2)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (30, 15)
    assert (reply.attempts, reply.seconds) == (3, 1.5)


def test_a_model_that_never_keeps_to_the_schema_is_a_failure_that_quotes_it():
    chat = in_turn("no", "no", '{"names": 3}')
    failed = complete(chat, 2)
    assert isinstance(failed, ModelCallError)
    assert (failed.fault, failed.attempts, len(chat.requests)) == ("schema", 3, 3)
    assert re.search(r"\$\.names.*'{\"names\": 3}'.*models\.chat\.redraws", str(failed))


@given(st.text())
def test_no_text_whatever_ends_in_another_error(text):
    outcome = complete(ScriptedChat(lambda _: text), 0)
    assert isinstance(outcome, ModelCallError) or "names" in outcome.parsed
