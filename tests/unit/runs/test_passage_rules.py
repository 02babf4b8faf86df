"""Passage runs taken from traces, by hand."""

import pytest
from run_traces import nugget, submission, trace

from calibrag.runs.passage_runs import PASSAGE_RUNS


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


def test_pg_2_pools_passes_whose_answers_count_as_the_same():
    traces = [trace(n, [submission(text, 0.4)], [], {text: 1.0}) for n, text in enumerate(["Rome", "Roma", "Paris"], 1)]
    same = PASSAGE_RUNS["PG-2"](traces, 20, lambda qid, answer: answer[:3])
    assert [hit.passage_id for hit in same] == ["Roma", "Rome"]
    assert passages("PG-2", traces) == ["Rome"]
