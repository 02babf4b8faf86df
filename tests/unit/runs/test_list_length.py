"""PG-1 and PG-2 at one length."""

import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.records import Hit
from calibrag.runs.list_length import DeeperSearch, at_one_length, cut, deeper, padded, search_deeper, short
from calibrag.trace import EntitySearchEvent, SearchEvent, Trace, Usage

FIRST = {"a": ["p", "q"], "b": ["p", "q", "r"]}
SECOND = {"a": ["x", "p", "y", "z"], "b": ["r", "s", "t"], "c": ["u"]}


def found(qid, query, **scores):
    hits = [Hit(passage, rank, score) for rank, (passage, score) in enumerate(scores.items(), 1)]
    return DeeperSearch(qid=qid, query=query, hits=hits)


def test_a_ranking_is_short_where_the_second_is_longer():
    assert short(FIRST, SECOND) == ["a", "c"]


def test_the_second_run_is_cut_question_by_question():
    assert cut(SECOND, FIRST) == {"a": ["x", "p"], "b": ["r", "s", "t"], "c": []}


def test_a_short_ranking_is_filled_by_the_best_score_over_its_queries():
    searches = [found("a", "one", p=9.0, k=3.0, m=1.0), found("a", "two", m=5.0, n=3.0, q=2.0)]
    # k and n tie: the order of ids
    assert padded(FIRST, SECOND, searches)["a"] == ["p", "q", "m", "k"]
    assert padded(FIRST, SECOND, searches)["b"] == FIRST["b"]


def test_where_searches_find_no_more_a_ranking_stays_short():
    assert padded(FIRST, SECOND, [found("a", "one", k=3.0)])["a"] == ["p", "q", "k"]
    assert padded(FIRST, SECOND, [])["c"] == []


RANKINGS = st.dictionaries(st.sampled_from("ab"), st.lists(st.sampled_from("pqrstuvw"), unique=True))


@given(RANKINGS, RANKINGS, st.lists(st.sampled_from("pqrstuvwxyz"), unique=True))
def test_at_one_length_no_ranking_is_longer_repeats_a_passage_or_loses_its_head(first, second, more):
    searches = [found(qid, "q", **{p: float(-i) for i, p in enumerate(more)}) for qid in "ab"]
    runs = at_one_length(first, second, searches)
    for qid in second:
        head = first.get(qid, [])
        assert runs["PG-2 cut"][qid] == second[qid][: len(head)]
        filled = runs["PG-1 padded"][qid]
        assert filled[: len(head)] == head
        assert len(set(filled)) == len(filled) <= max(len(head), len(second[qid]))


def test_a_deeper_retriever_finds_twice_what_is_filed_and_keeps_the_rest():
    retriever = {
        "lexical": {"engine": "tantivy", "depth": 30},
        "dense": {"index": "exact", "depth": 100},
        "graph": {"depth": 20},
        "rerank": {"depth": 20, "first_stage": 4},
        "rrf_k": 60,
        "returned": 20,
    }
    assert deeper(retriever, 20) == {
        "lexical": {"engine": "tantivy", "depth": 40},
        "dense": {"index": "exact", "depth": 100},
        "graph": {"depth": 20},
        "rerank": {"depth": 40, "first_stage": 4},
        "rrf_k": 60,
        "returned": 40,
    }
    assert deeper(retriever | {"lexical": None, "rerank": None}, 20)["rerank"] is None


def a_pass(qid, *events):
    return Trace(
        collection="c", system="s", qid=qid, pass_number=1, excluded=["no"], events=list(events), nuggets=[],
        submissions=[], retrieved={}, answer=None, confidence=None, confidence_rule="r", stop_reason="no_call",
        status="ok", usage=Usage(),
    )  # fmt: skip


class Words(pt.Transformer):
    """Finds a passage for each word of a query, and leaves out what is excluded."""

    def transform(self, inp):
        rows = [
            (qid, query, word, float(-rank), rank, "lexical")
            for qid, query, excluded in zip(inp["qid"], inp["query"], inp["exclude"], strict=True)
            for rank, word in enumerate(word for word in query.split() if word not in excluded)
        ]
        return pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank", "sources"])


def test_each_query_of_a_first_pass_is_searched_once_as_it_was():
    searched = [SearchEvent(turn=1, query="one no two", hits=[]), SearchEvent(turn=2, query="three", hits=[])]
    by_name = EntitySearchEvent(turn=3, name="x", hits=[], names=[])
    passes = [a_pass("a", *searched, searched[0], by_name), a_pass("b", searched[1])]
    results = search_deeper(passes, Words)
    assert [(each.qid, each.query) for each in results] == [("a", "one no two"), ("a", "three"), ("b", "three")]
    assert [hit.passage_id for hit in results[0].hits] == ["one", "two"]


@pytest.mark.parametrize("passes", [[], [a_pass("a")]])
def test_without_a_query_no_retriever_is_opened(passes):
    def refuse():
        raise AssertionError("opened")

    assert search_deeper(passes, refuse) == []
