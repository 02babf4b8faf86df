"""The reader policy under the orchestrator, in a scripted world."""

from scripted import PASSAGES, QUESTION, World, run

from calibrag.agents.policies.reader import ReaderPolicy, ReaderSettings
from calibrag.agents.protocol import Proposal, ProposeAnswers, Result, Retrieve, Sentence
from calibrag.trace import EntitySearchEvent, ModelEvent, ReadEvent, RecordEvent, SearchEvent

HEAT, MANN, ALI = PASSAGES
SURE = {HEAT.text: 0.95, MANN.text: 0.8}


def policy(**changes):
    settings = {"passages_read": 2, "neighbours": 0, "follow_ups": 1, "follow_up_by": "search"}
    return ReaderPolicy(ReaderSettings(**settings | {"sources": 2, "attempts": 2} | changes))


def events(trace, kind):
    return [event for event in trace.events if isinstance(event, kind)]


def test_it_searches_reads_records_and_answers():
    world = World(SURE, proposals=[("Michael Mann", 0.7), ("Los Angeles", 0.2)])
    trace = run(policy(follow_ups=0), world)
    kinds = [type(event).__name__ for event in trace.events]
    assert kinds == [
        "SearchEvent", "ReadEvent", "ReadEvent", "ModelEvent", "RecordEvent", "RecordEvent", "AnswerEvent", "GateEvent"
    ]  # fmt: skip
    assert trace.answer == "Michael Mann"
    assert trace.submissions[0].passage_ids == ["Heat#0", "Mann#0"]


def test_it_follows_the_most_probable_name_that_has_no_page_yet():
    world = World(SURE, proposals=[("Heat", 0.5), ("a film", 0.3), ("Al Pacino", 0.2)])
    trace = run(policy(), world)
    assert [event.query for event in events(trace, SearchEvent)] == [
        "Who directed Heat?",
        "Al Pacino Who directed Heat?",
    ]
    assert len(events(trace, ModelEvent)) == 2


def test_it_may_follow_a_name_by_entity_search():
    world = World(SURE, proposals=[("Heat", 0.5), ("Chicago", 0.2)])
    trace = run(policy(passages_read=1, follow_up_by="entity_search"), world)
    assert [event.name for event in events(trace, EntitySearchEvent)] == ["Chicago"]
    read = [(event.passage_id, event.question) for event in events(trace, ReadEvent)]
    assert read == [("Heat#0", "Who directed Heat?"), ("Mann#0", "Chicago Who directed Heat?")]


def test_it_may_read_the_neighbours_of_what_it_reads():
    trace = run(policy(neighbours=1, follow_ups=0), World(SURE))
    assert [event.passage_id for event in events(trace, ReadEvent)] == ["Heat#0", "Heat#1", "Mann#0"]


def test_it_reads_a_passage_once():
    trace = run(policy(follow_ups=2), World(SURE, proposals=[("Al Pacino", 0.6), ("Val Kilmer", 0.4)]))
    read = [event.passage_id for event in events(trace, ReadEvent)]
    assert len(events(trace, SearchEvent)) == 3
    assert read == ["Heat#0", "Mann#0", "Ali#0"]


def test_it_tries_the_next_candidate_when_turned_back_and_refuses_in_the_end():
    trace = run(policy(), World({}, proposals=[("Los Angeles", 0.2), ("Michael Mann", 0.7), ("Chicago", 0.1)]))
    assert [(event.text, event.accepted) for event in trace.submissions] == [
        ("Michael Mann", False),
        ("Los Angeles", False),
        (None, True),
    ]
    assert trace.answer is None and trace.stop_reason == "accepted"
    assert all(nugget.retracted for nugget in trace.nuggets)


def test_it_records_each_source_of_a_candidate_once():
    trace = run(policy(sources=1), World(SURE, proposals=[("Michael Mann", 1.0)]))
    assert [event.passage_id for event in events(trace, RecordEvent)] == ["Heat#0"]


def test_it_refuses_where_nothing_is_found():
    everything = frozenset(passage.passage_id for passage in PASSAGES)
    world = World(SURE, proposals=[("Michael Mann", 1.0)])
    trace = run(policy(), world, excluded=everything)
    assert [type(effect) for effect in world.asked] == [Retrieve]
    assert trace.submissions[0].text is None


def test_it_refuses_where_the_reader_proposes_nothing():
    world = World(SURE)
    trace = run(policy(), world)
    assert sum(isinstance(effect, ProposeAnswers) for effect in world.asked) == 1
    assert trace.submissions[0].text is None and trace.submissions[0].accepted


def test_the_best_sentence_of_the_best_passage_is_recorded_first():
    sentences = [Sentence(passage_id=p, title="t", text=text) for p, text in (("A", "1"), ("B", "2"), ("A", "3"))]
    proposal = Proposal(text="x", probability=1.0, sentences=sentences)
    calls = policy()._submit(QUESTION, proposal)
    first, second = next(calls), calls.send(Result())
    assert [(call.passage_id, call.quotes) for call in (first, second)] == [("A", ["1"]), ("B", ["2"])]
