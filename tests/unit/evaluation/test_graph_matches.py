"""The graph's report: searches that matched, passages returned and filed, by hand."""

import pytest

from calibrag.evaluation.graph_matches import COLUMNS, graph_report
from calibrag.records import Hit
from calibrag.trace import ReadEvent, SearchEvent, Trace, Usage


def hits(*ids):
    return [Hit(passage_id=passage_id, rank=rank, score=1.0) for rank, passage_id in enumerate(ids, 1)]


def search(found, names=()):
    """Return a search event of {passage: sources}."""
    return SearchEvent(turn=1, query="?", hits=hits(*found), sources=list(found.values()), graph_names=list(names))


def trace(*events):
    return Trace(
        collection="c",
        system="s",
        qid="q",
        pass_number=1,
        excluded=[],
        events=list(events),
        nuggets=[],
        submissions=[],
        retrieved={},
        answer=None,
        confidence=None,
        confidence_rule="r",
        stop_reason="no_call",
        status="ok",
        usage=Usage(),
    )


def test_searches_passages_and_filed_passages_are_counted():
    read = ReadEvent(turn=1, passage_id="a", question="?", sentences=[], chosen_by="lexical")
    traces = {
        "q1": [
            trace(search({"a": "lexical", "b": "lexical graph", "c": "graph"}, ["X", "Y"]), read),
            # c was found by words in another search: the graph is not alone
            trace(search({"c": "lexical", "d": "graph"}, ["X", "Z"])),
        ],
        "q2": [trace(search({"a": "dense"}), search({"e": "dense"}))],
    }
    runs = {"PG-1": {"q1": hits("a", "b", "d")}, "PG-2": {"q1": hits("b"), "q2": hits("a", "b")}}
    report = graph_report(traces, runs)
    assert list(report.columns) == COLUMNS
    assert report.values.tolist() == [
        ["PG-1", 4, 2, 0.5, 6, 3, 1, 3, 2, 1],
        ["PG-2", 4, 2, 0.5, 6, 3, 1, 3, 1, 0],
    ]


def test_without_a_search_the_share_is_missing():
    [row] = graph_report({"q": [trace()]}, {"PG-1": {}}).to_dict("records")
    assert row["searches"] == 0 and row["share_matched"] is None


def test_a_search_event_whose_sources_are_not_one_a_hit_is_refused():
    broken = SearchEvent(turn=1, query="?", hits=hits("a", "b"), sources=["graph"])
    with pytest.raises(ValueError, match="zip"):
        graph_report({"q": [trace(broken)]}, {})
