"""Every branch of the orchestrator's loop, with scripted policies in a scripted world."""

import msgspec
import pytest
from scripted import BESIDE, PASSAGES, QUESTION, SETTINGS, World, calls, run

from calibrag.agents.protocol import (
    Answer,
    Entail,
    EntitySearch,
    FindName,
    ProposeAnswers,
    Read,
    RecordNugget,
    Retract,
    Retrieve,
    Search,
)
from calibrag.errors import InputError
from calibrag.execution.traces import read_traces
from calibrag.records import NameCount
from calibrag.trace import EntitySearchEvent, ErrorEvent, RecordEvent, Trace

HEAT, MANN, ALI = PASSAGES
DIRECTED = "It was directed by Michael Mann."
CLAIM = "Who directed Heat? Answer: Michael Mann"
SURE = {HEAT.text: 0.95, MANN.text: 0.8}

SEARCH = Search(query="Heat director")
RECORD = RecordNugget(passage_id="Heat#0", quotes=[DIRECTED], claim=CLAIM)
RECORD_2 = RecordNugget(passage_id="Mann#0", quotes=["Michael Mann directed Heat"], claim=CLAIM)
ANSWER = Answer(text="Michael Mann", passage_ids=["Heat#0"])


def test_answer_with_two_verified_nuggets_is_accepted_with_the_computed_confidence():
    policy, _ = calls(SEARCH, RECORD, RECORD_2, ANSWER)
    trace = run(policy, World(SURE))
    assert (trace.answer, trace.stop_reason, trace.status) == ("Michael Mann", "accepted", "ok")
    # both claims hold all words of the answer: (1 - .05 x .2) x 2/3
    assert trace.confidence == pytest.approx((1 - 0.05 * 0.2) * 2 / 3)
    assert [n.verified for n in trace.nuggets] == [True, True]


def test_nothing_is_called_after_an_accepted_answer():
    policy, replies = calls(SEARCH, RECORD, RECORD_2, ANSWER, SEARCH)
    trace = run(policy, World(SURE))
    assert len(replies) == 3
    assert trace.usage.searches == 1


def test_one_strong_entailment_does_instead_of_two_nuggets():
    policy, _ = calls(SEARCH, RECORD, ANSWER)
    assert run(policy, World(SURE)).answer == "Michael Mann"
    policy, _ = calls(SEARCH, RECORD_2, ANSWER)
    assert run(policy, World(SURE)).answer is None


def test_gate_names_every_failed_condition():
    policy, replies = calls(SEARCH, Answer(text="two\nlines", passage_ids=["Jaws#0"]))
    trace = run(policy, World())
    [submission] = trace.submissions
    assert not submission.accepted
    assert [reason.split()[0] for reason in submission.reasons] == ["passages", "format", "evidence", "confidence"]
    assert replies[-1].problem == "; ".join(submission.reasons)


def test_turned_back_answer_lowers_the_next_confidence():
    policy, _ = calls(SEARCH, RECORD, Answer(text="Al Pacino\n", passage_ids=[]), ANSWER)
    trace = run(policy, World(SURE))
    assert [s.accepted for s in trace.submissions] == [False, True]
    assert trace.confidence == pytest.approx(0.95 / 3 * 0.9)


def test_refusal_needs_neither_evidence_nor_confidence():
    policy, _ = calls(Answer(text=None, passage_ids=[]))
    trace = run(policy, World())
    assert (trace.answer, trace.confidence, trace.stop_reason) == (None, 0.0, "accepted")
    assert trace.submissions[0].accepted


def test_passage_outside_the_record_is_rejected():
    policy, replies = calls(RECORD, Read(passage_id="Heat#0", question="?"))
    trace = run(policy, World(SURE))
    assert trace.nuggets == []
    assert trace.usage.rejected_calls == 2
    assert [event.call for event in trace.events] == ["record", "read"]
    assert all("was not retrieved in this pass" in reply.problem for reply in replies)


def test_made_up_quote_is_no_nugget_and_costs_no_entailment():
    policy, _ = calls(SEARCH, RecordNugget(passage_id="Heat#0", quotes=["directed by Al Pacino"], claim=CLAIM))
    trace = run(policy, World(SURE))
    assert trace.nuggets == []
    assert trace.usage.entailments == 0
    [event] = [e for e in trace.events if isinstance(e, RecordEvent)]
    assert (event.entailment, event.verified, event.nugget_id) == (None, False, None)
    assert "directed by Al Pacino" in event.reason


def test_claim_that_is_not_entailed_stays_on_record_unverified():
    policy, replies = calls(SEARCH, RECORD, ANSWER)
    trace = run(policy, World({HEAT.text: 0.3}))
    assert [(n.verified, n.entailment) for n in trace.nuggets] == [(False, 0.3)]
    assert "entail the claim" in replies[1].problem
    assert trace.submissions[0].confidence == 0.0


@pytest.mark.parametrize("change", [{"claim": " "}, {"quotes": []}])
def test_nugget_without_claim_or_quote_is_rejected(change):
    policy, _ = calls(SEARCH, msgspec.structs.replace(RECORD, **change))
    trace = run(policy, World(SURE))
    assert trace.nuggets == [] and isinstance(trace.events[-1], ErrorEvent)


def test_retracted_nugget_is_no_evidence():
    policy, _ = calls(SEARCH, RECORD, Retract(nugget_id="n1"), ANSWER)
    trace = run(policy, World(SURE))
    assert trace.nuggets[0].retracted
    assert trace.answer is None and trace.submissions[0].confidence == 0.0


def test_retracting_twice_or_the_unknown_is_rejected():
    policy, replies = calls(SEARCH, RECORD, Retract(nugget_id="n1"), Retract(nugget_id="n1"), Retract(nugget_id="n9"))
    trace = run(policy, World(SURE))
    assert "retracted already" in replies[3].problem and "no nugget 'n9'" in replies[4].problem
    assert trace.usage.rejected_calls == 2


def test_empty_query_is_rejected_and_not_searched():
    policy, _ = calls(Search(query="  "))
    world = World()
    trace = run(policy, world)
    assert world.asked == [] and trace.usage.searches == 0
    assert isinstance(trace.events[0], ErrorEvent)


def test_turn_without_a_call_ends_the_pass():
    policy, _ = calls(SEARCH)
    trace = run(policy, World())
    assert (trace.stop_reason, trace.answer, trace.confidence) == ("no_call", None, None)
    assert set(trace.retrieved) == {"Heat#0", "Mann#0", "Ali#0"}


def test_turns_are_limited():
    policy, _ = calls(*[SEARCH] * 50)
    trace = run(policy, World())
    assert (trace.stop_reason, trace.usage.tool_calls) == ("turn_limit", SETTINGS.limits.turns)


def test_tokens_are_limited():
    policy, _ = calls(*[ProposeAnswers(question="?", sentences=[])] * 50)
    trace = run(policy, World())
    assert (trace.stop_reason, trace.usage.tokens, trace.usage.model_calls) == ("token_limit", 1000, 10)


def test_fault_of_the_world_ends_the_pass_as_an_error():
    policy, _ = calls(SEARCH, RECORD, ANSWER)
    trace = run(policy, World(fault=(Entail(pairs=[]), RuntimeError("out of memory"))))
    assert (trace.status, trace.stop_reason, trace.answer) == ("error", "error", None)
    assert trace.events[-1].problem == "RuntimeError: out of memory"


def test_read_takes_the_sentences_that_share_words():
    policy, replies = calls(SEARCH, Read(passage_id="Heat#0", question="Who directed the film?"))
    trace = run(policy, World())
    assert replies[1].sentences == ["Heat is a 1995 film.", DIRECTED]
    assert trace.events[-1].chosen_by == "lexical"


def test_read_asks_for_entailment_where_no_word_is_shared():
    policy, replies = calls(SEARCH, Read(passage_id="Heat#0", question="Which city?"))
    trace = run(policy, World({"It was shot in Los Angeles.": 0.9, DIRECTED: 0.1}))
    assert replies[1].sentences == [DIRECTED, "It was shot in Los Angeles."]
    assert trace.events[-1].chosen_by == "entailment"
    assert trace.usage.entailments == 3


def test_excluded_passages_are_never_seen():
    policy, _ = calls(SEARCH, RECORD)
    trace = run(policy, World(SURE), pass_number=2, excluded=frozenset({"Heat#0"}))
    assert "Heat#0" not in trace.retrieved
    assert trace.excluded == ["Heat#0"]
    assert trace.nuggets == []


def earlier_trace():
    policy, _ = calls(SEARCH, RECORD, ANSWER)
    return run(policy, World(SURE))


def test_pass_without_an_answer_falls_back_on_an_earlier_one_that_its_own_record_entails():
    policy, _ = calls(SEARCH)
    excluded = frozenset({"Heat#0"})
    trace = run(policy, World(SURE), pass_number=2, excluded=excluded, earlier=[earlier_trace()])
    filed = trace.submissions[-1]
    assert (filed.text, filed.origin, filed.source_pass) == ("Michael Mann", "fallback", 1)
    assert filed.passage_ids == ["Mann#0"]
    assert trace.answer == "Michael Mann"
    assert trace.confidence == pytest.approx(0.8 / 3)
    assert trace.stop_reason == "no_call"
    support, answer, ruling = trace.events[-3:]
    assert (support.passage_id, support.entailment, support.nugget_id) == ("Mann#0", 0.8, None)
    assert (answer.origin, answer.source_pass) == ("fallback", 1)
    assert (ruling.accepted, ruling.conditions) == (True, [])  # it does not pass the gate again


def test_refusing_pass_falls_back_too():
    policy, _ = calls(SEARCH, Answer(text=None, passage_ids=[]))
    trace = run(policy, World(SURE), pass_number=2, earlier=[earlier_trace()])
    assert [s.origin for s in trace.submissions] == ["own", "fallback"]


def test_no_fallback_without_entailment_or_from_another_fallback():
    policy, _ = calls(SEARCH)
    trace = run(policy, World({}), pass_number=2, earlier=[earlier_trace()])
    assert trace.answer is None and trace.submissions == []
    policy, _ = calls(SEARCH)
    fallen = run(policy, World(SURE), pass_number=2, earlier=[earlier_trace()])
    policy, _ = calls(SEARCH)
    assert run(policy, World(SURE), pass_number=3, earlier=[fallen]).answer is None


def test_searches_carry_the_question_and_keep_the_best_score():
    policy, _ = calls(SEARCH, Search(query="Ali"))
    world = World()
    trace = run(policy, world)
    assert [effect.query for effect in world.asked if isinstance(effect, Retrieve)] == ["Heat director", "Ali"]
    assert trace.retrieved["Heat#0"] == 1.0
    assert [hit.rank for hit in trace.events[0].hits] == [1, 2, 3]


def test_neighbours_come_on_request_marked_and_unranked():
    policy, replies = calls(SEARCH, Search(query="Heat", neighbours=2))
    world = World()
    trace = run(policy, world)
    assert [effect.neighbours for effect in world.asked] == [0, 2]
    assert replies[0].neighbours == {} and replies[1].neighbours == {"Heat#0": [BESIDE]}
    assert BESIDE not in replies[1].passages and BESIDE.passage_id not in trace.retrieved
    assert [event.neighbours for event in trace.events] == [{}, {"Heat#0": ["Heat#1"]}]


def test_a_neighbour_may_be_read_and_recorded():
    claim = RecordNugget(passage_id="Heat#1", quotes=["Its sequel was never made."], claim="No sequel")
    policy, _ = calls(Search(query="Heat", neighbours=1), Read(passage_id="Heat#1", question="sequel"), claim)
    trace = run(policy, World({BESIDE.text: 0.7}))
    assert trace.usage.rejected_calls == 0
    assert [(nugget.passage_id, nugget.verified) for nugget in trace.nuggets] == [("Heat#1", True)]


@pytest.mark.parametrize("count", [-1, 3])
def test_too_many_neighbours_are_rejected_and_not_searched(count):
    policy, replies = calls(Search(query="Heat", neighbours=count))
    world = World()
    trace = run(policy, world)
    assert world.asked == [] and trace.usage.searches == 0
    assert replies[0].problem == f"neighbours must be from 0 to 2 (got {count})"
    assert (trace.events[0].call, trace.usage.rejected_calls) == ("search", 1)


def test_entity_search_returns_passages_and_their_names_and_is_recorded():
    policy, replies = calls(EntitySearch(name="Michael Mann"))
    world = World()
    trace = run(policy, world)
    assert world.asked == [FindName(name="Michael Mann", excluded=frozenset(), passages=2, names=3)]
    assert replies[0].passages == [HEAT, MANN] and replies[0].scores == [1.0, 0.5]
    assert replies[0].names == [NameCount(name="Michael Mann", passages=2)]
    [event] = trace.events
    assert isinstance(event, EntitySearchEvent)
    assert (event.name, [hit.passage_id for hit in event.hits]) == ("Michael Mann", ["Heat#0", "Mann#0"])
    assert event.names == replies[0].names
    assert (trace.usage.entity_searches, trace.usage.searches) == (1, 0)


def test_what_an_entity_search_found_may_be_recorded_and_has_no_score_of_a_search():
    policy, _ = calls(EntitySearch(name="Michael Mann"), RECORD, RECORD_2, ANSWER)
    trace = run(policy, World(SURE))
    assert trace.answer == "Michael Mann" and len(trace.nuggets) == 2
    assert trace.retrieved == {}


@pytest.mark.parametrize("name", ["", " ", "?!"])
def test_a_name_without_a_letter_is_rejected_and_not_looked_for(name):
    policy, replies = calls(EntitySearch(name=name))
    world = World()
    trace = run(policy, world)
    assert world.asked == [] and trace.usage.entity_searches == 0
    assert "must hold a letter or digit" in replies[0].problem
    assert trace.events[0].call == "entity_search"


def test_entity_search_never_sees_excluded_passages():
    policy, replies = calls(EntitySearch(name="Michael Mann"))
    run(policy, World(), excluded=frozenset({"Heat#0"}))
    assert replies[0].passages == [MANN]


def test_fault_of_an_entity_search_ends_the_pass_as_an_error():
    fault = (FindName(name="", excluded=frozenset(), passages=0, names=0), OSError("no such file"))
    policy, _ = calls(EntitySearch(name="Heat"))
    assert run(policy, World(fault=fault)).events[-1].problem == "OSError: no such file"


def test_a_search_event_says_what_found_each_hit_and_what_the_graph_matched():
    policy, _ = calls(SEARCH)
    [event] = run(policy, World(graph_names=["Heat", "Al Pacino"])).events
    assert event.sources == ["lexical dense"] * 3 and len(event.hits) == 3
    assert event.graph_names == ["Heat", "Al Pacino"]


def test_a_trace_of_another_schema_is_refused(tmp_path):
    policy, _ = calls(SEARCH)
    old = msgspec.json.encode(run(policy, World())).replace(b'"schema_version":4', b'"schema_version":3')
    (tmp_path / "traces.jsonl").write_bytes(old + b"\n")
    with pytest.raises(InputError, match=r"traces.jsonl:1: schema_version must be 4 \(got 3\).*run the workflow again"):
        read_traces([tmp_path / "traces.jsonl"])


def test_trace_survives_json():
    policy, _ = calls(Search(query="Heat", neighbours=1), EntitySearch(name="Michael Mann"), RECORD, RECORD_2, ANSWER)
    trace = run(policy, World(SURE, graph_names=["Heat"]))
    assert msgspec.json.decode(msgspec.json.encode(trace), type=Trace) == trace
    assert trace.qid == QUESTION.qid
