"""Calls of an OpenAI-compatible server, over HTTP, whatever it answers."""

import asyncio
import json
import logging
import socket
import traceback

import pytest
from chat_server import completion, error, good, request, serving

from calibrag.errors import ModelCallError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.openai_api import OpenAIChat
from calibrag.models.chat.retrying import Retrying
from calibrag.models.chat.seam import Beam, Decoding, Message, TokenLogprob, Tool, ToolCall

KEY = "sk-secret-0123456789"


@pytest.fixture
def waits():
    """Return the seconds slept so far; nobody sleeps."""
    return []


@pytest.fixture
def chat_at(waits):
    def at(url, *, max_attempts=3, max_wait_s=60, timeout_s=20, concurrency=4, api_key=KEY):
        async def sleep(seconds):
            waits.append(seconds)

        retrying = Retrying(max_attempts, max_wait_s, sleep=sleep, jitter=lambda: 0.5)
        return OpenAIChat(
            url, "m", "r1", api_key=api_key, concurrency=concurrency, timeout_s=timeout_s, retrying=retrying
        )

    return at


def complete(chat, asked=None):
    (outcome,) = complete_all(chat, [asked or request()], 1)
    return outcome


# --- good replies ---------------------------------------------------------------------------------


def test_a_good_reply_comes_with_text_usage_and_one_attempt(chat_at, waits):
    with serving(good("It is Paris.")) as server:
        reply = complete(chat_at(server.url))
    assert (reply.text, reply.finish_reason, reply.attempts, reply.parsed) == ("It is Paris.", "stop", 1, None)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cached) == (10, 5, False)
    assert reply.seconds > 0
    assert waits == []


def test_the_server_gets_the_whole_request_and_nothing_that_is_not_set(chat_at):
    schema = {"type": "object"}
    decoding = Decoding(
        temperature=0.7,
        max_tokens=9,
        seed=5,
        stop=["\n"],
        logprobs=2,
        extra={"chat_template_kwargs": {"thinking": False}},
    )
    messages = [Message(role="system", content="Be brief."), Message(role="user", content="Who?")]
    with serving(good("{}")) as server:
        chat = chat_at(server.url)
        complete(chat, request(messages=messages, decoding=decoding, schema=schema, sample=3))
        complete(chat, request("x", decoding=Decoding(temperature=None, max_tokens=None, seed=None)))
    assert server.requests[0] == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}],
        "temperature": 0.7,
        "max_tokens": 9,
        "seed": 8,
        "stop": ["\n"],
        "logprobs": True,
        "top_logprobs": 2,
        "chat_template_kwargs": {"thinking": False},
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}},
    }
    assert server.requests[1] == {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_samples_have_seeds_of_their_own(chat_at):
    with serving(good()) as server:
        complete_all(chat_at(server.url), request().samples(3), 1)
    assert [asked["seed"] for asked in server.requests] == [7, 8, 9]


def test_logprobs_are_read_with_their_alternatives(chat_at):
    alternatives = [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": -2.5}]
    content = [{"token": "Yes", "logprob": -0.1, "bytes": None, "top_logprobs": alternatives}]
    decoding = Decoding(temperature=0.0, max_tokens=8, seed=None, logprobs=2)
    with serving(good("Yes", logprobs={"content": content})) as server:
        reply = complete(chat_at(server.url), request(decoding=decoding))
    assert reply.logprobs == [TokenLogprob(token="Yes", logprob=-0.1, top=[("Yes", -0.1), ("No", -2.5)])]


def test_a_server_that_tells_no_usage_leaves_it_unknown(chat_at):
    with serving(good(tokens=None)) as server:
        assert complete(chat_at(server.url)).usage.prompt_tokens is None


def test_a_refusal_is_the_reply(chat_at):
    body = {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    with serving({"status": 200, "body": json.dumps(body)}) as server:
        assert complete(chat_at(server.url)).text == "I cannot."


def test_a_long_reply_is_read_whole(chat_at):
    text = "word " * 200_000
    with serving(good(text, tokens=(10, 200_000), finish="length")) as server:
        reply = complete(chat_at(server.url))
    assert reply.text == text
    assert reply.finish_reason == "length"


def test_a_reply_without_end_is_given_up_and_not_asked_for_again(chat_at, monkeypatch):
    monkeypatch.setattr("calibrag.models.chat.openai_api._LARGEST_BODY", 1 << 20)
    with serving(good("x" * (2 << 20))) as server:
        failed = complete(chat_at(server.url))
    assert (failed.fault, failed.attempts) == ("malformed", 1)
    assert "max_tokens" in str(failed)


# --- tools ----------------------------------------------------------------------------------------

SEARCH = Tool(name="search", description="Find passages.", parameters={"type": "object", "properties": {"query": {}}})


def replying(*choices):
    """Return a good reply with these choices."""
    return {"status": 200, "body": json.dumps({"choices": list(choices), "usage": None})}


def calling(*calls, content=None, **message):
    """Return a good reply that calls tools."""
    message |= {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return replying({"message": message, "finish_reason": "tool_calls"})


def test_tools_and_a_conversation_with_calls_go_out_in_the_form_of_the_api(chat_at):
    conversation = [
        Message(role="user", content="Who?"),
        Message(
            role="assistant",
            content="",
            tool_calls=[ToolCall(call_id="c1", name="search", arguments='{"query": "Ada"}')],
        ),
        Message(role="tool", content="no passages", call_id="c1"),
    ]
    with serving(good()) as server:
        complete(chat_at(server.url), request(messages=conversation, tools=[SEARCH]))
    (asked,) = server.requests
    assert asked["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Find passages.",
                "parameters": {"type": "object", "properties": {"query": {}}},
            },
        }
    ]
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "Ada"}'}}
    assert asked["messages"] == [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "no passages"},
    ]


def test_tool_calls_come_back_with_no_text(chat_at):
    step = calling(
        {"id": "x7", "type": "function", "function": {"name": "search", "arguments": '{"query": "Ada"}'}},
        {"id": "x8", "type": "function", "function": {"name": "search", "arguments": '{"query": "Zoë"}'}},
    )
    with serving(step) as server:
        reply = complete(chat_at(server.url), request(tools=[SEARCH]))
    assert reply.tool_calls == [
        ToolCall(call_id="x7", name="search", arguments='{"query": "Ada"}'),
        ToolCall(call_id="x8", name="search", arguments='{"query": "Zoë"}'),
    ]
    assert (reply.text, reply.finish_reason) == ("", "tool_calls")


@pytest.mark.parametrize(
    "sent, arguments",
    [
        ('{"query": "Ada', '{"query": "Ada'),
        ("Ada Lovelace", "Ada Lovelace"),
        ("", ""),
        ("[" * 100_000, "[" * 100_000),
        (None, ""),
        ({"query": "Ada"}, '{"query":"Ada"}'),
    ],
)
def test_arguments_are_the_models_own_text_json_or_not_and_are_asked_for_once(chat_at, sent, arguments):
    with serving(calling({"id": "x", "function": {"name": "search", "arguments": sent}})) as server:
        reply = complete(chat_at(server.url), request(tools=[SEARCH]))
    assert [call.arguments for call in reply.tool_calls] == [arguments]
    assert (reply.attempts, len(server.requests)) == (1, 1)


@pytest.mark.parametrize("arguments", ['{"query": "Ada', "Ada", "", "[1]", '"Ada"', "[" * 100_000])
def test_arguments_that_are_no_json_go_back_to_the_server_as_an_object_that_holds_them(chat_at, arguments):
    calls = [ToolCall(call_id="c1", name="search", arguments=arguments)]
    conversation = [
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", content="not JSON", call_id="c1"),
    ]
    with serving(good()) as server:
        complete(chat_at(server.url), request(messages=conversation, tools=[SEARCH]))
    (call,) = server.requests[0]["messages"][0]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"not_json": arguments}


@pytest.mark.parametrize("missing", [{}, {"id": None}, {"id": ""}])
def test_calls_without_name_are_numbered_on_over_the_conversation(chat_at, missing):
    call = missing | {"function": {"name": "search", "arguments": "{}"}}
    earlier = [ToolCall(call_id="call_1", name="search", arguments="{}")]
    conversation = [
        Message(role="assistant", content="", tool_calls=earlier),
        Message(role="tool", content="none", call_id="call_1"),
    ]
    with serving(calling(call, call)) as server:
        first = complete(chat_at(server.url), request(tools=[SEARCH]))
        second = complete(chat_at(server.url), request(messages=conversation, tools=[SEARCH]))
    assert [call.call_id for call in first.tool_calls] == ["call_1", "call_2"]
    assert [call.call_id for call in second.tool_calls] == ["call_2", "call_3"]


def test_a_call_without_tool_name_is_half_a_reply(chat_at):
    with serving(calling({"function": {"arguments": "{}"}})) as server:
        assert complete(chat_at(server.url), request(tools=[SEARCH])).fault == "malformed"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_what_a_model_thought_is_kept_apart_from_its_text(chat_at, field):
    with serving(calling(content="Paris.", **{field: "France, so..."}), good("Paris.")) as server:
        chat = chat_at(server.url)
        thought, plain = complete(chat), complete(chat)
    assert (thought.text, thought.reasoning) == ("Paris.", "France, so...")
    assert plain.reasoning is None


# --- beams ----------------------------------------------------------------------------------------


def end(text, *logprobs):
    content = [{"token": "t", "logprob": logprob} for logprob in logprobs]
    return {
        "message": {"content": text},
        "finish_reason": "stop",
        "logprobs": {"content": content} if content else None,
    }


def test_beams_are_asked_for_as_vllm_wants_and_all_come_back(chat_at):
    with serving(replying(end("Paris", -0.25, -0.5), end("Lyon", -1.0, -0.5), end("Nice"))) as server:
        decoding = Decoding(temperature=0.0, max_tokens=8, seed=None, extra={"length_penalty": 0.5})
        reply = complete(chat_at(server.url), request(beams=3, decoding=decoding))
    (asked,) = server.requests
    assert (asked["use_beam_search"], asked["n"], asked["logprobs"], asked["length_penalty"]) == (True, 3, True, 0.5)
    assert reply.beams == [
        Beam(text="Paris", logprob=-0.75),
        Beam(text="Lyon", logprob=-1.5),
        Beam(text="Nice", logprob=None),
    ]
    assert (reply.text, reply.logprobs) == ("Paris", None)


@pytest.mark.parametrize("choices", [[end("Paris")], [end("Paris")] * 3, [end("Paris"), end("Lyon")]])
def test_a_server_that_passes_over_the_wish_for_beams_is_an_error(chat_at, choices):
    with serving(replying(*choices)) as server:
        failed = complete(chat_at(server.url), request(beams=3))
    assert (failed.fault, failed.attempts) == ("invalid", 1)
    assert "the server offers no beam search" in str(failed)


@pytest.mark.parametrize("fields", [{"schema": {"type": "array"}, "tools": [SEARCH]}, {"tools": [SEARCH], "beams": 2}])
def test_a_request_holds_the_reply_to_one_form_only(fields):
    with pytest.raises(ValueError, match="one of schema, tools and beams at most"):
        request(**fields)
    with pytest.raises(ValueError, match="beams must be 2 or more"):
        request(beams=1)


# --- faults that another attempt mends ------------------------------------------------------------


def test_a_busy_server_is_asked_again_when_it_says(chat_at, waits):
    with serving(error(429, retry_after="17"), good()) as server:
        reply = complete(chat_at(server.url))
    assert (reply.text, reply.attempts) == ("fine", 2)
    assert waits == [17]


def test_waits_double_where_the_server_names_none(chat_at, waits):
    with serving(*[error(status) for status in (500, 502, 503, 529)], good()) as server:
        reply = complete(chat_at(server.url, max_attempts=5))
    assert reply.attempts == 5
    assert waits == [1, 2, 4, 8]


@pytest.mark.parametrize("status, fault", [(429, "busy"), (500, "server"), (503, "server"), (408, "timeout")])
def test_a_fault_that_stays_ends_after_the_last_attempt(chat_at, waits, status, fault):
    with serving(error(status, "overloaded")) as server:
        failed = complete(chat_at(server.url))
    assert (failed.fault, failed.status, failed.attempts, len(server.requests)) == (fault, status, 3, 3)
    assert len(waits) == 2
    assert not failed.meets_every_call
    assert f"m at 127.0.0.1:{server.url.split(':')[2][:-3]}: HTTP {status} after 3 attempts: overloaded" in str(failed)


def test_a_wait_longer_than_allowed_is_not_waited_for(chat_at, waits):
    with serving(error(429, retry_after="3600")) as server:
        failed = complete(chat_at(server.url, max_wait_s=60))
    assert (failed.fault, failed.attempts, waits) == ("busy", 1, [])
    assert "asks to wait 3600 s" in str(failed)


def test_a_server_that_stalls_is_left_at_the_timeout(chat_at):
    with serving({**good(), "wait": 0.6}, good("second")) as server:
        reply = complete(chat_at(server.url, timeout_s=0.2))
    assert (reply.text, reply.attempts) == ("second", 2)


def test_a_server_that_always_stalls_is_a_timeout_with_what_to_do(chat_at):
    with serving({**good(), "wait": 0.5}) as server:
        failed = complete(chat_at(server.url, timeout_s=0.1, max_attempts=2))
    assert (failed.fault, failed.status, failed.attempts) == ("timeout", None, 2)
    assert "models.chat.timeout_s" in str(failed)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param({**good(), "cut": 40}, id="the connection breaks off"),
        pytest.param({"status": 200, "body": completion("fine")[:60]}, id="the JSON breaks off"),
        pytest.param({"status": 200, "body": "<html>busy</html>"}, id="a page instead"),
        pytest.param({"status": 200, "body": '{"choices": []}'}, id="no choice"),
        pytest.param({"status": 200, "body": '{"choices": 3}'}, id="another shape"),
        pytest.param({"status": 200, "body": "[" * 100_000}, id="brackets without end"),
    ],
)
def test_half_a_reply_is_asked_for_again_and_never_returned(chat_at, step):
    with serving(step, good("whole")) as server:
        reply = complete(chat_at(server.url))
        assert (reply.text, reply.attempts) == ("whole", 2)
    with serving(step) as server:
        failed = complete(chat_at(server.url))
        assert (failed.fault, failed.attempts, len(server.requests)) == ("malformed", 3, 3)


def test_nobody_listening_is_said_with_the_address_after_all_attempts(chat_at, waits):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    failed = complete(chat_at(f"http://127.0.0.1:{port}/v1"))
    assert (failed.fault, failed.attempts, len(waits)) == ("unreachable", 3, 2)
    assert f"127.0.0.1:{port}" in str(failed)
    assert "models.chat.server.base_url" in str(failed)
    assert failed.meets_every_call


# --- faults that stay -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step, fault, stays, advice",
    [
        (error(401, "bad key"), "denied", True, "models.chat.server.api_key_env"),
        (error(403, "not yours"), "denied", True, "models.chat.server.api_key_env"),
        (error(404, "no such model"), "unknown", True, "models.chat.model"),
        (error(400, "bad field"), "invalid", False, "not repeated"),
        (error(422, "bad field"), "invalid", False, "not repeated"),
        (error(400, "too many", code="context_length_exceeded"), "too_long", False, "ask for less"),
        (error(400, "request (2031 tokens) exceeds the available context size"), "too_long", False, "ask for less"),
        (error(400, "This model's maximum context length is 4096 tokens"), "too_long", False, "ask for less"),
        (error(413, "large"), "too_long", False, "ask for less"),
        (error(400, "messages[0].name: string too long"), "invalid", False, "the request is wrong"),
        (error(501, "not implemented"), "invalid", False, "is not repeated"),
        (error(429, "you have run out", code="insufficient_quota"), "denied", True, "quota"),
        ({"status": 400, "body": "plain words"}, "invalid", False, "plain words"),
    ],
)
def test_a_fault_that_stays_is_raised_at_once_with_what_to_do(chat_at, waits, step, fault, stays, advice):
    with serving(step) as server:
        failed = complete(chat_at(server.url))
    assert (failed.fault, failed.status, failed.attempts) == (fault, step["status"], 1)
    assert (len(server.requests), waits) == (1, [])
    assert failed.meets_every_call is stays
    assert advice in str(failed)


# --- the key --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step", [error(401, f"Incorrect API key: {KEY}"), error(500, KEY), {"status": 200, "body": f"<p>{KEY}</p>"}]
)
def test_the_key_is_in_no_error_and_no_log_even_if_the_server_sends_it_back(chat_at, step, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    with serving(step) as server:
        chat = chat_at(server.url)
        with pytest.raises(ModelCallError) as raised:
            asyncio.run(chat.complete(request()))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    printed = "".join(traceback.format_exception(raised.value))
    assert "***" in printed
    assert KEY not in printed + repr(raised.value.__dict__)
    assert KEY not in caplog.text


def test_the_key_is_blotted_out_of_a_reply(chat_at):
    with serving(good(f"your key is {KEY}")) as server:
        assert complete(chat_at(server.url)).text == "your key is ***"


def test_no_key_of_another_server_is_taken_from_the_environment(chat_at, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(good()) as server:
        complete(chat_at(server.url, api_key=None))
    assert KEY not in str(server.headers)


# --- many at once ---------------------------------------------------------------------------------


def test_replies_come_in_the_order_of_the_requests_and_errors_in_their_places(chat_at):
    def answer(asked):
        text = asked["messages"][0]["content"]
        return error(400, "no") if text == "2" else {**good(text), "wait": 0.02 * (5 - int(text))}

    with serving(answer) as server:
        outcomes = complete_all(chat_at(server.url), [request(str(n)) for n in range(5)], 5)
    assert [getattr(outcome, "text", outcome) for outcome in outcomes] == ["0", "1", outcomes[2], "3", "4"]
    assert isinstance(outcomes[2], ModelCallError)


def test_no_more_calls_are_under_way_than_the_model_allows(chat_at):
    with serving({**good(), "wait": 0.03}) as server:
        complete_all(chat_at(server.url, concurrency=3), [request(str(n)) for n in range(12)], 12)
    assert server.most_at_once == 3


def test_a_model_can_be_called_from_one_event_loop_after_another(chat_at):
    with serving(good()) as server:
        chat = chat_at(server.url)
        assert [complete(chat).text, complete(chat).text] == ["fine", "fine"]


def test_no_requests_give_no_replies(chat_at):
    assert complete_all(chat_at("http://127.0.0.1:9/v1"), [], 4) == []
