"""What traces show of a bad chat model and of a bad server, over HTTP."""

import json
import tracemalloc

import msgspec
import pytest
from chat_runs import (
    FILMS,
    answer,
    asked_title,
    asks_type,
    capable,
    outline,
    passed,
    question,
    read,
    record,
    redraw,
    reply,
    scripted,
    search,
    system,
    told,
    turn,
)
from chat_server import error, serving

from calibrag.errors import BudgetError, RunError
from calibrag.trace import ErrorEvent, ModelEvent, RecordEvent

ASKED = question(type="simple")
SEARCH = search("Who directed Heat?")
EVIDENCE = record("Heat#0", "Heat was directed by Michael Mann.", "directed by Michael Mann")
ANSWER = answer("Michael Mann", "Heat#0")
GOOD = (SEARCH, EVIDENCE, ANSWER)
HALF = '{"reasoning": "I should search", "call": {"tool": "sea'
WRONG = '{"tool": "search", "query": "Heat"}'


def one_pass(folder, *turns, style="json_schema", earlier=(), block=None, **settings):
    """Return the trace of a pass over one question, and the server."""
    block = block or system(policy={"style": style})
    with serving(scripted(*turns, style=style)) as server:
        [trace] = passed(server.url, folder, [ASKED], earlier and {ASKED.qid: earlier}, block=block, **settings)
    return trace, server


def models(trace):
    return [event for event in trace.events if isinstance(event, ModelEvent)]


def errors(trace):
    return [event for event in trace.events if isinstance(event, ErrorEvent)]


def at_first(bad, times=1):
    """Return a turn that fails so often before the model gets to search."""
    left = [bad] * times
    return lambda request: left.pop() if left else SEARCH


# --- faults that pass ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "times"),
    [
        (error(429, "slow down", retry_after="0.01"), 2),
        (error(500, "CUDA error"), 2),
        (error(503, "loading model"), 1),
        (reply("", wait=1.0), 1),
        (reply("So") | {"cut": 20}, 1),
        ({"status": 200, "body": "<html>Bad gateway</html>"}, 1),
        ({"status": 200, "body": '{"choices": []}'}, 2),
    ],
    ids=["429 with Retry-After", "500", "503", "stall", "broken off", "no JSON", "no choices"],
)
def test_a_fault_that_passes_shows_in_the_attempts_alone(tmp_path, bad, times):
    trace, _ = one_pass(tmp_path, at_first(bad, times), EVIDENCE, ANSWER, timeout_s=3.0)
    assert [event.attempts for event in models(trace)] == [times + 1, 1, 1]
    assert (trace.answer, trace.status, errors(trace)) == ("Michael Mann", "ok", [])


def test_a_reply_that_breaks_the_schema_is_drawn_again_and_counted(tmp_path):
    def broken_first(request):
        return SEARCH if redraw(request) else reply(HALF, finish="length")

    trace, server = one_pass(tmp_path, broken_first, EVIDENCE, ANSWER)
    assert [event.rejected for event in models(trace)] == [1, 0, 0]
    assert [event.tokens for event in models(trace)] == [30, 15, 15]
    assert (trace.answer, trace.usage.rejected_calls) == ("Michael Mann", 0)
    assert len(server.requests) == 4


# --- a model that is not up to it ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HALF, "not JSON"),
        (WRONG, "$: 'reasoning' is a required property"),
        ('{"reasoning": "", "call": {"tool": "google", "query": "Heat"}}', "is not valid under any"),
        ("I would search for Heat.", "not JSON"),
        ("", "not JSON"),
    ],
    ids=["half JSON", "wrong schema", "unknown tool", "prose", "nothing"],
)
def test_a_model_that_never_keeps_to_the_schema_ends_at_the_turn_limit(tmp_path, text, problem):
    limits = {"turns": 5}
    trace, server = one_pass(tmp_path, reply(text, finish="length"), block=system(limits=limits))
    assert (trace.stop_reason, trace.status, trace.answer) == ("turn_limit", "ok", None)
    assert outline(trace) == ["model", "error"] * 5
    assert [event.call for event in errors(trace)] == ["next call"] * 5
    assert all(problem in event.problem for event in errors(trace))
    # what it said and what it cost are on record: two draws a turn
    assert {(event.text, event.rejected, event.tokens) for event in models(trace)} == {(text, 2, 30)}
    assert (trace.usage.rejected_calls, trace.usage.tokens) == (5, 150)
    # and it is told what is wrong, in terms of its reply
    assert told(trace)[0] == f"rejected: {errors(trace)[0].problem}"
    assert "models.chat" not in json.dumps(server.requests) and server.url not in json.dumps(server.requests)
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == ["system", "user"] + ["assistant", "user"] * 4


def test_a_model_that_recovers_from_a_broken_turn_goes_on(tmp_path):
    trace, _ = one_pass(tmp_path, reply(HALF), *GOOD)
    assert outline(trace)[:4] == ["model", "error", "model", "search"]
    assert (trace.answer, trace.stop_reason, trace.usage.rejected_calls) == ("Michael Mann", "accepted", 1)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (("google", {"query": "Heat"}), "no tool 'google'; the tools are search, entity_search, read"),
        (("search", '{"query": "Heat'), "the arguments of search: Input data was truncated"),
        (("search", {"query": 3}), "the arguments of search: Expected `str`, got `int` - at `$.query`"),
        (("search", {"q": "Heat"}), "the arguments of search: "),
        (("", ""), "no tool ''"),
        (("search", '"Heat"'), "the arguments of search: Expected `object`, got `str`"),
    ],
    ids=["unknown tool", "no JSON", "wrong type", "unknown field", "no name", "no object"],
)
def test_a_malformed_tool_call_is_rejected_with_its_reason_and_the_pass_goes_on(tmp_path, call, problem):
    trace, server = one_pass(tmp_path, [call], *GOOD, style="tools")
    assert outline(trace)[:4] == ["model", "error", "model", "search"]
    [rejected] = errors(trace)
    assert rejected.problem.startswith(problem) and rejected.call == call[0]
    assert rejected.arguments == (call[1] if isinstance(call[1], str) else json.dumps(call[1]))
    assert told(trace)[0] == f"rejected: {rejected.problem}"
    assert trace.answer == "Michael Mann"
    # servers parse the arguments that they are sent again
    sent = server.requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(sent), dict)


def test_an_unknown_passage_and_a_made_up_quote_are_rejected_with_reasons(tmp_path):
    trace, _ = one_pass(
        tmp_path,
        read("Heat#0"),
        SEARCH,
        record("Nowhere#0", "Michael Mann directed Heat.", "Michael Mann"),
        record("Heat#0", "Michael Mann directed Heat.", "Mann directed the film in 1995"),
        record("Heat#0", "Michael Mann shot Heat near Reykjavik, Iceland, on cold winter days.", "Michael Mann"),
        ANSWER,
        [],
    )
    assert [event for event in outline(trace) if event != "model"] == [
        "error", "search", "error", "record!", "record!", "answer", "gate!",
    ]  # fmt: skip
    assert [event.problem for event in errors(trace)] == [
        "passage 'Heat#0' was not retrieved in this pass",
        "passage 'Nowhere#0' was not retrieved in this pass",
    ]
    made_up, too_weak = [event for event in trace.events if isinstance(event, RecordEvent)]
    assert "do not stand in Heat#0: ['Mann directed the film in 1995']" in made_up.reason
    assert made_up.nugget_id is None and made_up.entailment is None
    assert "must entail the claim with at least 0.5" in too_weak.reason and too_weak.nugget_id == "n1"
    assert [nugget.verified for nugget in trace.nuggets] == [False]
    assert told(trace)[3] == f"not verified: {made_up.reason}"
    assert (trace.answer, trace.stop_reason) == (None, "no_call")


@pytest.mark.parametrize("style", ["json_schema", "tools"])
def test_an_endless_loop_of_one_search_ends_at_the_turn_limit(tmp_path, style):
    trace, server = one_pass(tmp_path, SEARCH, style=style)
    assert (trace.stop_reason, trace.status, trace.usage.searches) == ("turn_limit", "ok", 16)
    assert len(server.requests) == 16


def test_a_turn_of_a_hundred_calls_ends_at_the_turn_limit(tmp_path):
    trace, _ = one_pass(tmp_path, [SEARCH] * 100, style="tools")
    assert (trace.stop_reason, trace.usage.searches, trace.usage.model_calls) == ("turn_limit", 16, 1)


@pytest.mark.parametrize("style", ["json_schema", "tools"])
def test_a_refusal_in_the_server_s_own_field_is_on_record(tmp_path, style):
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    refused = reply(None, message=message)
    trace, _ = one_pass(tmp_path, refused, block=system(policy={"style": style}, limits={"turns": 2}))
    assert models(trace)[0].text == "I cannot help with that."
    # by JSON schema it is no turn; where tools may be called, a turn without a call
    assert trace.stop_reason == ("turn_limit" if style == "json_schema" else "no_call")


# --- too much ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["word " * 200_000, json.dumps({"reasoning": "word " * 200_000, "call": {"tool": SEARCH[0], **SEARCH[1]}})],
    ids=["prose", "a call"],
)
def test_a_reply_of_200_000_tokens_meets_the_token_limit_and_is_kept_once(tmp_path, text):
    tracemalloc.start()
    trace, server = one_pass(tmp_path, reply(text, tokens=(500, 200_000)), SEARCH)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (trace.stop_reason, trace.status) == ("token_limit", "ok")
    assert trace.usage.tokens >= 200_500 and trace.usage.model_calls == 1
    assert len(msgspec.json.encode(trace)) < 1.01 * len(text) + 10_000
    assert peak < 40 * len(text)
    assert len(server.requests) <= 2


def test_the_transcript_carries_only_the_start_of_a_long_broken_reply(tmp_path):
    trace, server = one_pass(tmp_path, reply("word " * 20_000), *GOOD)
    assert trace.answer == "Michael Mann"
    assert len(json.dumps(server.requests[-1])) < 20_000
    assert len(models(trace)[0].text) == 100_000


def test_a_reply_without_an_end_is_given_up_on_and_is_the_question_s_error(tmp_path):
    trace, server = one_pass(tmp_path, reply("x" * (33 << 20)))
    assert (trace.status, trace.stop_reason) == ("error", "error")
    assert "the reply exceeds 32 MB; the server does not heed max_tokens" in errors(trace)[-1].problem
    assert len(msgspec.json.encode(trace)) < 10_000


@pytest.mark.parametrize(
    "full",
    [
        error(
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3976 in the "
            "messages, 1024 in the completion). Please reduce the length of the messages or completion.",
            "context_length_exceeded",
        ),
        error(400, "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens."),
        error(400, "the request exceeds the available context size. try increasing the context size"),
        error(400, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"),
        error(413, "Payload Too Large"),
    ],
    ids=["OpenAI", "vLLM", "llama.cpp", "llama.cpp later", "413"],
)
def test_a_context_that_overflows_ends_the_pass_which_falls_back(tmp_path, full):
    first, _ = one_pass(tmp_path, *GOOD)
    trace, server = one_pass(tmp_path, SEARCH, full, earlier=[first])
    assert (trace.stop_reason, trace.status) == ("context_limit", "ok")
    assert outline(trace) == ["model", "search", "error", "record", "answer", "gate"]
    assert (trace.answer, trace.submissions[-1].origin, trace.submissions[-1].source_pass) == (
        "Michael Mann", "fallback", 1,
    )  # fmt: skip
    assert "it exceeds the context" in errors(trace)[0].problem and errors(trace)[0].call == "next call"
    assert len(server.requests) == 2


# --- a server that is lost -----------------------------------------------------------------------

FIVE = [question(title, type="simple") for title in list(FILMS)[:5]]
TWELVE = [question(title, type="simple") for title in FILMS]


@pytest.mark.parametrize(
    ("lost", "problem"),
    [
        (error(500, "out of memory"), "HTTP 500 after 3 attempts: out of memory"),
        (error(401, "invalid key"), "HTTP 401 after 1 attempt: invalid key"),
        (error(404, "no such model"), "HTTP 404 after 1 attempt: no such model"),
        (error(429, "come back tomorrow", retry_after="86400"), "it asks to wait 86400 s"),
        (reply("", wait=1.0), "no whole reply within 0.2 s"),
    ],
    ids=["500", "401", "404", "429 for a day", "silence"],
)
def test_a_lost_server_stops_the_job_soon_with_a_message_that_groups_the_faults(tmp_path, lost, problem):
    with serving(lambda request: lost) as server, pytest.raises(RunError) as stopped:
        passed(server.url, tmp_path, TWELVE, in_flight=4, max_error_rate=0.25, timeout_s=0.2)
    message = str(stopped.value)
    assert message.startswith("4 of 12 questions failed, more than execution.max_error_rate = 0.25 allows:\n  4 x ")
    assert problem in message and "finished questions are kept" in message
    # not all questions were tried
    assert len(set(map(asked_title, server.requests))) < len(TWELVE)


def test_a_server_that_is_not_there_is_named_once(tmp_path):
    with serving(error(500)) as gone:
        pass
    with pytest.raises(RunError, match=r"1 of 12 questions failed(.|\n)*1 x ModelCallError.*ConnectError; check"):
        passed(gone.url, tmp_path, TWELVE, in_flight=4, max_error_rate=0.0)


def test_a_server_that_dies_midway_costs_only_the_questions_that_are_open(tmp_path):
    """What is finished is kept, what was answered is replayed, and the next run asks for the rest alone."""
    left = 20

    def dying(request):
        nonlocal left
        left -= 1
        return capable(request) if left >= 0 else error(500, "gone")

    with serving(dying) as server, pytest.raises(RunError, match="gone"):
        passed(server.url, tmp_path, TWELVE, in_flight=3, max_error_rate=0.0)
    with serving(capable) as server:
        traces = passed(server.url, tmp_path, TWELVE, in_flight=3, max_error_rate=0.0)
    assert [trace.answer for trace in traces] == list(FILMS.values())
    # replies under way when the job stops are asked for again: two at most
    assert 0 <= len(server.requests) - (3 * len(TWELVE) - 20) <= 2


def test_a_failed_question_is_an_error_with_its_cause_and_the_others_go_on(tmp_path):
    def fails_on_jaws(request):
        return error(400, "unknown role") if asked_title(request) == "Jaws" else capable(request)

    with serving(fails_on_jaws) as server:
        traces = passed(server.url, tmp_path, FIVE, max_error_rate=0.2)
    assert [trace.status for trace in traces] == ["ok", "ok", "error", "ok", "ok"]
    failed = traces[2]
    assert (failed.answer, failed.confidence, failed.stop_reason) == (None, None, "error")
    assert "HTTP 400 after 1 attempt: unknown role; the request is wrong" in failed.events[-1].problem


@pytest.mark.parametrize("budget", [{"tokens": 200}, {"cost": 200e-6}], ids=str)
def test_a_spent_budget_stops_the_job_and_a_rerun_goes_on(tmp_path, budget):
    prices = {"prompt": 1.0, "completion": 1.0}
    spent = {"tokens": None, "seconds": None, "cost": None} | budget
    done = []
    with serving(capable) as server:
        with pytest.raises(BudgetError, match=r"models.chat.budget.*spent after .*raise it and run again"):
            passed(server.url, tmp_path, TWELVE, prices=prices, budget=spent, done=done.append)
        asked = len(server.requests)
        traces = passed(server.url, tmp_path, TWELVE, prices=prices)
    assert 0 < len(done) < len(TWELVE)
    # 15 tokens a call, and four in flight when the budget is spent
    assert 14 <= asked <= 17
    # those under way are asked for again: three at most
    assert 0 <= len(server.requests) - 3 * len(TWELVE) <= 3
    assert [trace.answer for trace in traces] == list(FILMS.values())
    assert sum(trace.usage.cost for trace in traces) == pytest.approx(15e-6 * 36)


def test_a_model_that_gives_a_type_of_its_own_making_leaves_the_question_without(tmp_path):
    def script(request):
        if asks_type(request):
            return reply('{"type": "riddle"}')
        return scripted(*GOOD)(request)

    untyped = question()
    with serving(script) as server:
        [trace] = passed(server.url, tmp_path, [untyped])
    assert outline(trace)[:3] == ["model", "error", "model"]
    assert errors(trace)[0].call == "question type" and "'riddle' is not one of" in errors(trace)[0].problem
    assert trace.answer == "Michael Mann"
    opening = next(r["messages"][1]["content"] for r in server.requests if not asks_type(r) and turn(r) == 0)
    assert "Type:" not in opening
