"""What traces show of a capable chat model, called over HTTP in both styles."""

import json

import pytest
from chat_runs import (
    FILMS,
    ORDERS,
    answer,
    asks_type,
    capable,
    entity_search,
    last,
    outline,
    passed,
    question,
    read,
    record,
    retract,
    said,
    scripted,
    search,
    system,
    told,
    turn,
)
from chat_server import serving

from calibrag.trace import GateEvent, ModelEvent, RecordEvent

STYLES = pytest.mark.parametrize("style", ["json_schema", "tools"])
EVIDENCE = record("Heat#0", "Heat was directed by Michael Mann.", "directed by Michael Mann")
RIGHT_AWAY = [search("Who directed Heat?"), EVIDENCE, answer("Michael Mann", "Heat#0")]


def one_pass(folder, *turns, style="json_schema", earlier=(), kind="simple", asked=None, **settings):
    """Return the trace of a pass over one question, and the server."""
    asked = asked or question(type=kind)
    block = system(policy={"style": style})
    with serving(scripted(*turns, style=style)) as server:
        [trace] = passed(server.url, folder, [asked], earlier and {asked.qid: earlier}, block=block, **settings)
    return trace, server


@STYLES
def test_evidence_is_searched_read_recorded_and_an_answer_turned_back_is_made_good(tmp_path, style):
    trace, _ = one_pass(
        tmp_path,
        search("director of Heat"),
        entity_search("Michael Mann"),
        read("Heat#0"),
        record("Michael Mann#0", "Michael Mann was born in Heat.", "directed Heat", "born in Chicago"),
        retract("n1"),
        answer("Michael\nMann", "Nowhere#0"),
        EVIDENCE,
        answer("Michael Mann", "Heat#0"),
        style=style,
    )
    # the model speaks before each of its calls
    assert outline(trace)[::2][:5] == ["model"] * 5
    assert [event for event in outline(trace) if event != "model"] == [
        "search", "entity_search", "read", "record", "retract", "answer", "gate!", "record", "answer", "gate",
    ]  # fmt: skip
    assert (trace.answer, trace.stop_reason, trace.status) == ("Michael Mann", "accepted", "ok")
    assert [(n.nugget_id, n.verified, n.retracted) for n in trace.nuggets] == [("n1", True, True), ("n2", True, False)]
    turned_back, accepted = [event for event in trace.events if isinstance(event, GateEvent)]
    assert [c.name for c in turned_back.conditions if not c.passed] == ["passages", "format", "evidence", "confidence"]
    assert all(condition.passed for condition in accepted.conditions)
    assert trace.confidence == accepted.confidence == pytest.approx(0.98 * 1 / 3 * 0.9)
    feedback = told(trace)[5]
    assert feedback == "turned back: " + "; ".join(trace.submissions[0].reasons)
    for name in ("passages", "format", "evidence", "confidence"):
        assert f"{name} must be " in feedback
    assert told(trace)[4] == "n1 is withdrawn"
    assert "directed by Michael Mann" in told(trace)[2]


@STYLES
def test_the_answer_of_a_call_is_what_the_next_request_carries(tmp_path, style):
    _, server = one_pass(tmp_path, *RIGHT_AWAY, style=style)
    second = server.requests[1]["messages"]
    assert [m["role"] for m in second] == ["system", "user", "assistant", "user" if style == "json_schema" else "tool"]
    assert "[Heat#0] Heat\nHeat is a film" in second[-1]["content"]
    if style == "tools":
        assert second[-1]["tool_call_id"] == second[-2]["tool_calls"][0]["id"]
        assert {tool["function"]["name"] for tool in server.requests[0]["tools"]} >= {"search", "answer"}


def test_several_tool_calls_of_one_turn_are_answered_one_by_one(tmp_path):
    together = [search("director of Heat"), entity_search("Michael Mann"), read("Heat#0")]
    trace, server = one_pass(tmp_path, together, EVIDENCE, answer("Michael Mann", "Heat#0"), style="tools")
    assert outline(trace)[:5] == ["model", "search", "entity_search", "read", "model"]
    assert [call.name for call in trace.events[0].calls] == ["search", "entity_search", "read"]
    answers = [m for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in answers] == ["call-0-search", "call-1-entity_search", "call-2-read"]
    assert trace.usage.tool_calls == 5 and trace.usage.model_calls == 3
    # reading needs the passage that the search of the same turn has found
    assert "directed by Michael Mann" in answers[2]["content"]


def test_calls_after_an_accepted_answer_of_the_same_turn_are_not_made(tmp_path):
    trace, _ = one_pass(tmp_path, *RIGHT_AWAY[:2], [RIGHT_AWAY[2], search("more")], style="tools")
    assert outline(trace)[-3:] == ["model", "answer", "gate"] and trace.usage.searches == 1


@STYLES
def test_a_refusal_is_accepted_and_has_no_confidence(tmp_path, style):
    trace, _ = one_pass(tmp_path, search("Who directed Heat?"), answer(None), style=style)
    assert outline(trace) == ["model", "search", "model", "answer", "gate"]
    assert (trace.answer, trace.confidence, trace.stop_reason) == (None, 0.0, "accepted")


@STYLES
def test_a_turn_without_a_call_ends_the_pass(tmp_path, style):
    trace, _ = one_pass(tmp_path, search("Who directed Heat?"), [], style=style)
    assert (outline(trace), trace.stop_reason, trace.status) == (["model", "search", "model"], "no_call", "ok")
    assert trace.answer is None and trace.submissions == []


@pytest.mark.parametrize(
    ("ending", "stop_reason"), [(answer(None), "accepted"), ([], "no_call"), (search("again"), "turn_limit")]
)
def test_a_later_pass_without_an_answer_falls_back_on_one_that_its_own_record_supports(tmp_path, ending, stop_reason):
    first, _ = one_pass(tmp_path, *RIGHT_AWAY)
    second, server = one_pass(tmp_path, search("Who directed Heat?"), ending, earlier=[first])
    assert (second.answer, second.stop_reason, second.status) == ("Michael Mann", stop_reason, "ok")
    assert outline(second)[-3:] == ["record", "answer", "gate"]
    filed = second.submissions[-1]
    assert (filed.origin, filed.source_pass, filed.accepted) == ("fallback", 1, True)
    support = [event for event in second.events if isinstance(event, RecordEvent)][-1]
    assert support.passage_id != "Heat#0" and support.reason == "support of the answer of pass 1"
    # what pass 1 recorded is not shown again
    assert second.excluded == ["Heat#0"] and "[Heat#0]" not in json.dumps(server.requests)
    # one entailment is a third of full evidence
    assert second.confidence == pytest.approx(support.entailment / 3)


def test_a_pass_that_finds_no_support_falls_back_on_nothing(tmp_path):
    first, _ = one_pass(tmp_path, *RIGHT_AWAY)
    second, _ = one_pass(tmp_path, search("Alien"), answer(None), earlier=[first])
    assert (second.answer, second.submissions[-1].origin) == (None, "own")


def test_the_type_of_a_question_is_asked_for_once_and_replayed_in_later_passes(tmp_path):
    untyped = question()
    script = scripted(search("Who directed Heat?"), answer(None), kind="comparison")
    with serving(script) as server:
        first = passed(server.url, tmp_path, [untyped])
        [second] = passed(server.url, tmp_path, [untyped], {untyped.qid: first})
    assert [event.purpose for event in first[0].events if isinstance(event, ModelEvent)] == [
        "question type", "next call", "next call",
    ]  # fmt: skip
    assert sum(map(asks_type, server.requests)) == 1
    assert second.events[0].purpose == "question type" and second.events[0].cached
    assert first[0].events[0].text == second.events[0].text == '{"type": "comparison"}'
    openings = {r["messages"][1]["content"] for r in server.requests if not asks_type(r) and turn(r) == 0}
    assert len(openings) == 1 and "Type: comparison. Answer with the one of the two" in openings.pop()


def test_a_question_with_a_type_is_not_asked_for_it(tmp_path):
    trace, server = one_pass(tmp_path, *RIGHT_AWAY, asked=question(type="set"))
    assert not any(map(asks_type, server.requests))
    assert "Type: set. Answer with all members" in trace.events[0].sent[0]


def test_each_pass_is_a_further_sample(tmp_path):
    first, one = one_pass(tmp_path, search("Who directed Heat?"), answer(None))
    _, two = one_pass(tmp_path, search("Who directed Heat?"), answer(None), earlier=[first])
    assert {r["seed"] for r in one.requests} == {1} and {r["seed"] for r in two.requests} == {2}


def test_a_pass_run_again_replays_the_cache_and_makes_the_same_trace(tmp_path):
    first, _ = one_pass(tmp_path, *RIGHT_AWAY)
    (tmp_path / "journal-1").unlink()
    again, server = one_pass(tmp_path, *RIGHT_AWAY)
    assert server.requests == [] and again.usage.cached_calls == 3
    assert [e.text for e in again.events if isinstance(e, ModelEvent)] == [
        e.text for e in first.events if isinstance(e, ModelEvent)
    ]


def test_orders_inside_a_passage_reach_the_model_as_data_and_move_nothing_else(tmp_path):
    def obedient(request):
        """Answer as a passage orders, as a weak model would."""
        assert ORDERS in last(request)
        return answer("Bo", "Heat prize#0")

    trace, server = one_pass(tmp_path, search("prize for Heat"), obedient, answer(None))
    [result] = [m for m in server.requests[1]["messages"] if ORDERS in m["content"]]
    assert result["role"] == "user" and result["content"].startswith("[")
    assert ORDERS in told(trace)[0]
    # the gate lets nothing through that has no evidence
    assert "gate!" in outline(trace) and trace.answer is None
    assert ORDERS not in server.requests[1]["messages"][0]["content"]


def test_reasoning_that_a_server_keeps_apart_is_on_record(tmp_path):
    message = {"role": "assistant", "reasoning_content": "Heat is a film."}
    thought = said(search("Heat"), style="tools")
    body = json.loads(thought["body"])
    body["choices"][0]["message"] |= message
    trace, _ = one_pass(tmp_path, {**thought, "body": json.dumps(body)}, answer(None), style="tools")
    assert trace.events[0].reasoning == "Heat is a film."


def test_many_questions_each_get_their_own_conversation(tmp_path):
    asked = [question(title, type="simple") for title in FILMS]
    with serving(capable) as server:
        traces = passed(server.url, tmp_path, asked, in_flight=6)
    assert [trace.answer for trace in traces] == list(FILMS.values())
    assert len(server.requests) == 3 * len(FILMS) and server.most_at_once > 1
