"""Runs taken from traces, by hand."""

import msgspec
import pytest

from calibrag.runs.answer_runs import ANSWER_RUNS, faults
from calibrag.runs.passage_runs import PASSAGE_RUNS
from calibrag.trace import ErrorEvent, Nugget, Submission, Trace, Usage


def nugget(passage_id, entailment=0.9, verified=True, retracted=False):
    return Nugget(
        nugget_id=passage_id,
        passage_id=passage_id,
        quotes=["q"],
        claim="c",
        entailment=entailment,
        verified=verified,
        retracted=retracted,
    )


def submission(text, confidence, accepted=True, turn=1, origin="own"):
    return Submission(
        turn=turn, text=text, passage_ids=[], confidence=confidence, accepted=accepted, reasons=[], origin=origin
    )


def trace(number, submissions, nuggets=(), retrieved=None):
    final = submissions[-1] if submissions and submissions[-1].accepted else None
    return Trace(
        collection="c",
        system="s",
        qid="q",
        pass_number=number,
        excluded=[],
        events=[],
        nuggets=list(nuggets),
        submissions=list(submissions),
        retrieved=retrieved or {},
        answer=final.text if final else None,
        confidence=final.confidence if final else None,
        confidence_rule="r",
        stop_reason="accepted" if final else "no_call",
        status="ok",
        usage=Usage(),
    )


def passages(run, traces, length=20):
    hits = PASSAGE_RUNS[run](traces, length)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(one.score > other.score for one, other in zip(hits, hits[1:], strict=False))
    return [hit.passage_id for hit in hits]


FIRST = trace(
    1,
    [submission("Rome", 0.4)],
    [nugget("b", 0.6), nugget("c", 0.9), nugget("x", 0.1, verified=False), nugget("y", 0.99, retracted=True)],
    {"a": 0.9, "b": 0.1, "c": 0.2, "d": 0.9, "x": 0.5, "y": 0.4},
)


def test_pg_1_puts_evidence_by_entailment_before_the_rest_by_retrieval():
    assert passages("PG-1", [FIRST, trace(2, [], [], {"z": 1.0})]) == ["c", "b", "a", "d", "x", "y"]


def test_pg_1_is_cut_and_not_padded():
    assert passages("PG-1", [FIRST], length=3) == ["c", "b", "a"]


def test_pg_2_pools_the_passes_of_the_group_with_the_strongest_pass():
    second = trace(2, [submission("Paris", 0.8)], [nugget("p")], {"p": 0.3})
    third = trace(3, [submission("the PARIS!", 0.1)], [nugget("q", 0.95)], {"q": 0.2, "r": 0.7})
    assert passages("PG-2", [FIRST, second, third]) == ["q", "p", "r"]


@pytest.mark.parametrize(
    ("others", "winner"),
    [
        ([("Paris", 0.4, "own"), ("Paris", 0.1, "own")], "Paris"),  # as strong, more passes
        ([("Paris", 0.4, "own"), ("Paris", 0.4, "fallback")], "Paris"),  # as many of its own, larger sum
        ([("Paris", 0.4, "own")], "Rome"),  # earliest
        ([("Paris", 0.3, "own"), ("Paris", 0.3, "own")], "Rome"),  # strongest
    ],
)
def test_pg_2_breaks_ties_by_passes_then_sum_then_order(others, winner):
    traces = [trace(1, [submission("Rome", 0.4)], [], {"Rome": 1.0})]
    for number, (answer, confidence, origin) in enumerate(others, 2):
        traces.append(trace(number, [submission(answer, confidence, origin=origin)], [], {answer: 1.0}))
    assert passages("PG-2", traces) == [winner]


def test_pg_2_pools_all_passes_where_none_has_an_answer():
    assert passages("PG-2", [trace(1, [], [], {"a": 0.5}), trace(2, [submission(None, 0.0)], [], {"b": 0.7})]) == [
        "b",
        "a",
    ]


def answer(run, traces, passage_ids=("b", "c", "p")):
    entry = ANSWER_RUNS[run].choose(traces, passage_ids)
    return entry.answer, entry.confidence, entry.origin, [n.passage_id for n in entry.nuggets]


def test_ac_1_files_the_first_pass_with_its_verified_filed_nuggets():
    assert answer("AC-1", [FIRST]) == ("Rome", 0.4, "pass-1 turn 1", ["b", "c"])


def test_ac_1_takes_the_last_attempt_of_a_refusing_pass():
    refusing = trace(
        1,
        [
            submission("Rome", 0.1, accepted=False, turn=3),
            submission("Bonn", 0.05, accepted=False, turn=5),
            submission(None, 0.0, turn=6),
        ],
    )
    assert answer("AC-1", [refusing]) == ("Bonn", 0.05, "pass-1 turn 5 (turned back)", [])


def test_ac_1_refuses_with_confidence_0_where_nothing_was_tried():
    assert answer("AC-1", [trace(1, [])]) == (None, 0.0, "no answer", [])


def test_ac_2_takes_the_surest_submission_of_all_turned_back_ones_included():
    second = trace(2, [submission("Paris", 0.9, accepted=False, turn=7), submission(None, 0.0)], [nugget("p")])
    assert answer("AC-2", [FIRST, second]) == ("Paris", 0.9, "pass-2 turn 7 (turned back)", ["b", "c", "p"])


def test_ac_2_prefers_accepted_then_earlier_of_equals():
    turned_back = trace(1, [submission("Rome", 0.4, accepted=False)])
    assert answer("AC-2", [turned_back, trace(2, [submission("Paris", 0.4)])])[0] == "Paris"
    assert answer("AC-2", [trace(1, [submission("Rome", 0.4)]), trace(2, [submission("Paris", 0.4)])])[0] == "Rome"


def test_ac_2_never_files_a_refusal_over_an_attempt():
    assert answer("AC-2", [trace(1, [submission(None, 0.0)])]) == (None, 0.0, "no answer", [])


def failed(number):
    return msgspec.structs.replace(trace(number, []), status="error", stop_reason="error", events=[FAULT])


FAULT = ErrorEvent(turn=1, call="effect", problem="index is gone")


def test_a_failed_pass_files_nothing_rather_than_an_unsure_refusal():
    assert ANSWER_RUNS["AC-1"].choose([failed(1), trace(2, [submission("Rome", 0.4)])], ()) is None
    assert ANSWER_RUNS["AC-2"].choose([failed(1), failed(2)], ()) is None
    assert ANSWER_RUNS["AC-2"].choose([failed(1), trace(2, [])], ()).answer is None


def test_faults_are_charged_to_the_runs_that_read_the_pass():
    traces = {"q": [trace(1, []), failed(2)], "r": [failed(1), trace(2, [])]}
    assert faults(traces, ANSWER_RUNS["AC-1"]) == {"r": "index is gone"}
    assert faults(traces, ANSWER_RUNS["AC-2"]) == {"q": "index is gone", "r": "index is gone"}
