"""What passes cost, by hand."""

import msgspec
import numpy as np
import pytest

from calibrag.evaluation.cost import QUANTITIES, measure_cost
from calibrag.trace import ModelEvent, Trace, Usage


def a_pass(number, status="ok", tokens=(5,), **usage):
    events = [ModelEvent(turn=1, model="m", purpose="p", tokens=each) for each in tokens]
    told = sum(each or 0 for each in tokens)
    return Trace(
        collection="c", system="s", qid="q", pass_number=number, excluded=[], events=events, nuggets=[],
        submissions=[], retrieved={}, answer=None, confidence=None, confidence_rule="r", stop_reason="no_call",
        status=status, usage=Usage(**{"tokens": told, "model_calls": len(events)} | usage),
    )  # fmt: skip


def cost_of(traces, asked=None):
    return measure_cost(traces, asked or traces).set_index("pass")


def test_means_are_over_the_questions_that_ran_a_pass_and_sums_over_its_passes():
    table = cost_of(
        {
            "a": [a_pass(1, searches=1, entity_searches=1, seconds=2.0), a_pass(2, searches=3, seconds=1.0)],
            "b": [a_pass(1, searches=5, seconds=4.0), a_pass(2, status="skipped", tokens=())],
        }
    )
    assert list(table.index) == ["1", "2", "all"]
    assert table["searches"].tolist() == [3.5, 3, 5]
    assert table["seconds"].tolist() == [3, 1, 3.5]
    assert table["n"].tolist() == [2, 1, 2]
    assert table["n_skipped"].tolist() == [0, 1, 0]


def test_a_question_without_traces_is_missing_and_a_failed_pass_counts_with_what_it_took():
    table = cost_of({"a": [a_pass(1, status="error", searches=2)]}, asked=["a", "b"])
    assert table.loc["1", ["n", "n_missing", "n_error", "searches"]].tolist() == [1, 1, 1, 2]


def test_tokens_that_one_server_does_not_tell_leave_the_mean_open():
    table = cost_of({"a": [a_pass(1, tokens=(5, None))], "b": [a_pass(1)]})
    assert np.isnan(table.loc["1", "tokens"])
    assert table.loc["1", "model_calls"] == 1.5


def test_without_prices_there_is_no_cost():
    assert cost_of({"a": [a_pass(1)]})["cost"].isna().all()
    assert cost_of({"a": [a_pass(1, cost=0.25)]})["cost"].tolist() == [0.25, 0.25]


@pytest.mark.parametrize("name", [name for name in QUANTITIES if name != "cost"])
def test_a_quantity_that_an_import_does_not_record_is_open_and_not_zero(name):
    trace = msgspec.structs.replace(a_pass(1), recorded=[QUANTITIES[name].aspect])
    other = msgspec.structs.replace(a_pass(2), recorded=[])
    table = cost_of({"a": [trace, other]})
    assert not np.isnan(table.loc["1", name])
    assert np.isnan(table.loc["2", name])
    assert np.isnan(table.loc["all", name])
