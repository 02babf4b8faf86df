"""Pipelines: fusion by hand, ties, exclusion through every stage, reranking, settings that cannot be met."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyterrier_alpha import RRFusion
from small_corpora import HashEmbedder, build_dense, make_passage, named

from calibrag.errors import ConfigError
from calibrag.retrieval import dense, pipeline, sparse
from calibrag.retrieval.reranking import CrossEncoderReranker
from calibrag.retrieval.runs import read_run, write_run

BOTH = {
    "lexical": {"depth": 100},
    "dense": {"depth": 100},
    "graph": None,
    "rrf_k": 60,
    "rerank": None,
    "returned": 20,
}
COLUMNS = ["qid", "query", "docno", "score", "rank", "sources"]


class Fixed(pt.Transformer):
    """A first stage with a given ranking for each query; remembers the queries that it was given."""

    def __init__(self, rankings: dict[str, list[str]]):
        self.rankings = rankings
        self.asked: list[pd.DataFrame] = []

    def transform(self, inp):
        self.asked.append(inp)
        rows = [
            (q, text, docno, 1.0 - rank / 1000, rank)
            for q, text in zip(inp["qid"], inp["query"], strict=True)
            for rank, docno in enumerate(self.rankings.get(q, []))
        ]
        return pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank"])


class Overlap:
    """Scores a pair by the share of the query's words that the passage holds; counts its calls."""

    def __init__(self):
        self.calls: list[list[tuple[str, str]]] = []

    def scores(self, pairs):
        self.calls.append(pairs)
        return np.array([[np.mean([w in text.lower() for w in q.lower().split()])] for q, text in pairs])


def fused(lexical, dense_, options=BOTH):
    pipe = pipeline.build(options, Fixed({"q": lexical}), Fixed({"q": dense_}), None)
    return pipeline.search(pipe, [("q", "text", ())])["q"]


def test_fusion_is_cormacks_with_ranks_from_one():
    hits = fused(["a", "b", "c"], ["c", "d"])
    # a: 1/61; b: 1/62; c: 1/63 + 1/61; d: 1/62
    assert [h.passage_id for h in hits] == ["c", "a", "b", "d"]
    assert [h.rank for h in hits] == [1, 2, 3, 4]
    assert [h.score for h in hits] == pytest.approx([1 / 63 + 1 / 61, 1 / 61, 1 / 62, 1 / 62], abs=1e-11)


@given(
    lexical=st.permutations([f"d{i}" for i in range(9)]),
    dense_=st.permutations([f"d{i}" for i in range(3, 14)]),
    depth=st.integers(1, 12),
    returned=st.integers(1, 20),
)
@settings(max_examples=60, deadline=None)
def test_fusion_equals_a_second_implementation(lexical, dense_, depth, returned):
    options = BOTH | {"lexical": {"depth": depth}, "dense": {"depth": depth}, "rrf_k": 10, "returned": returned}
    sums = {}
    for ranking in (lexical, dense_):
        for rank, docno in enumerate(ranking[:depth], start=1):
            sums[docno] = sums.get(docno, 0) + 1 / (10 + rank)
    expected = sorted(sums, key=lambda d: (-round(sums[d], 12), d))[:returned]
    assert [h.passage_id for h in fused(lexical, dense_, options)] == expected


def test_fusion_scores_as_pyterrier_alpha_does():
    query = pd.DataFrame({"qid": ["q", "r"], "query": ["t", "u"]})
    stages = [Fixed({"q": ["a", "b", "c"], "r": ["a"]}), Fixed({"q": ["c", "d"]})]
    own = pipeline.Fusion([pipeline.Source(stage, "s") for stage in stages], 60).transform(query)
    # its ranks count from 0
    theirs = RRFusion(*stages, k=61).transform(query)
    pairs = [dict(zip(zip(f["qid"], f["docno"], strict=True), f["score"], strict=True)) for f in (own, theirs)]
    assert pairs[0] == pytest.approx(pairs[1], abs=1e-12)


def test_ties_of_fusion_stand_in_order_of_ids_whichever_retriever_found_them():
    assert [h.passage_id for h in fused(["z", "m"], ["a", "n"])] == ["a", "z", "m", "n"]
    assert [h.passage_id for h in fused(["a", "n"], ["z", "m"])] == ["a", "z", "m", "n"]
    assert [h.passage_id for h in fused(["z", "a"], ["a", "z"])] == ["a", "z"]


def test_ties_across_the_cut_are_kept_by_id():
    assert [h.passage_id for h in fused(["z"], ["a"], BOTH | {"returned": 1})] == ["a"]


def test_one_retriever_or_none_finding_anything_is_no_fault():
    assert [h.passage_id for h in fused(["b", "a"], [])] == ["b", "a"]
    assert [h.passage_id for h in fused([], ["b", "a"])] == ["b", "a"]
    assert fused([], []) == []


def test_queries_keep_their_order_and_each_its_own_ranking():
    pipe = pipeline.build(BOTH, Fixed({"9": ["a"], "10": ["b"]}), Fixed({"10": ["c"], "x": ["d"]}), None)
    found = pipeline.search(pipe, [("9", "t", ()), ("10", "u", ()), ("x", "t", ()), ("none", "t", ())])
    assert {q: [h.passage_id for h in hits] for q, hits in found.items()} == {
        "9": ["a"], "10": ["b", "c"], "x": ["d"], "none": []
    }  # fmt: skip
    assert list(found) == ["9", "10", "x", "none"]


def test_exclude_reaches_each_retriever_and_leaves_with_the_last_stage():
    lexical, second = Fixed({"q": ["a"]}), Fixed({"q": ["b"]})
    pipe = pipeline.build(BOTH, lexical, second, None)
    frame = pd.DataFrame({"qid": ["q"], "query": ["t"], "exclude": [frozenset({"z"})]})
    assert list(pipe.transform(frame).columns) == COLUMNS
    assert lexical.asked[0]["exclude"].tolist() == second.asked[0]["exclude"].tolist() == [frozenset({"z"})]


def test_every_pipeline_returns_the_same_columns(world):
    frame = pd.DataFrame({"qid": ["q"], "query": ["shark"], "exclude": [frozenset({"d3#0"})]})
    for pipe in world[1].values():
        assert list(pipe.transform(frame).columns) == COLUMNS


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Passages, their two retrievers, a reranker, and every pipeline that settings can make of them."""
    path = tmp_path_factory.mktemp("world")
    words = ["shark", "film", "paris", "boxer", "title"]
    passages = [make_passage(f"d{i}#0", " ".join(words[j % 5] for j in range(i, i + i % 4 + 1))) for i in range(60)]
    sparse.build(named(passages), path / "s", threads=1, heap_mb=15, stem=False, stopwords=False, fold_accents=False)
    vectors = HashEmbedder().encode([p.text + p.passage_id for p in passages])
    built = build_dense(vectors, [p.passage_id for p in passages], path / "d")
    lexical = sparse.SparseRetriever(path / "s", {"text": 1.0}, 30)
    vectors = dense.DenseRetriever(*built, HashEmbedder(), 30, {"device": "cpu"}, threads=1)
    reranker = CrossEncoderReranker(Overlap(), {p.passage_id: p for p in passages}, 15, 4)
    pipes = {}
    for use, rerank in itertools.product(("lexical", "dense", "both"), (None, {"depth": 15})):
        options = {
            "lexical": {"depth": 20} if use != "dense" else None,
            "dense": {"depth": 30} if use != "lexical" else None,
            "graph": None,
            "rrf_k": 60,
            "rerank": rerank,
            "returned": 12,
        }
        pipes[f"{use}-{bool(rerank)}"] = pipeline.build(options, lexical, vectors, reranker)
    return passages, pipes


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_no_pipeline_returns_what_is_excluded(world, data):
    passages, pipes = world
    excluded = data.draw(st.sets(st.sampled_from([p.passage_id for p in passages])))
    for pipe in pipes.values():
        found = pipeline.search(pipe, [("with", "shark film", excluded), ("without", "shark film", ())])
        assert not {h.passage_id for h in found["with"]} & excluded
        assert len({h.passage_id for h in found["without"]}) == len(found["without"]) == 12
        for hits in found.values():
            assert [h.rank for h in hits] == list(range(1, len(hits) + 1))
            assert [(-h.score, h.passage_id) for h in hits] == sorted((-h.score, h.passage_id) for h in hits)


def test_queries_asked_together_are_ranked_as_if_alone(world):
    queries = [("1", "shark film", ("d3#0",)), ("2", "paris", ()), ("3", "", ()), ("4", "boxer title film", ())]
    for pipe in world[1].values():
        alone = {}
        for query in queries:
            alone |= pipeline.search(pipe, [query])
        assert pipeline.search(pipe, queries) == alone


@pytest.mark.parametrize("text", ["", " ", 'AND OR ( " ~ * :', "shark\ud800", "\x00", "日本 фильм", "w " * 10_000])
def test_hostile_queries_pass_through_every_pipeline(world, text):
    for pipe in world[1].values():
        assert "q" in pipeline.search(pipe, [("q", text, ())])


def test_no_queries_are_no_call(world):
    assert all(pipeline.search(pipe, []) == {} for pipe in world[1].values())


def test_repeated_qids_are_refused(world):
    with pytest.raises(ValueError, match="qids must be different"):
        pipeline.search(world[1]["both-True"], [("q", "a", ()), ("q", "b", ())])


def test_reranker_scores_the_top_of_all_queries_in_one_call_and_cuts_the_rest(films):
    scorer = Overlap()
    reranker = CrossEncoderReranker(scorer, {p.passage_id: p for p in films}, 3, 0)
    order = [p.passage_id for p in films]
    options = BOTH | {"dense": None, "rerank": {"depth": 3}}
    pipe = pipeline.build(options, Fixed({"1": order, "2": order[::-1]}), None, reranker)
    found = pipeline.search(pipe, [("1", "deadly creature", ()), ("2", "boxer", ())])
    assert [h.passage_id for h in found["1"]] == ["alien#0", "jaws#0", "jaws#1"]
    assert [h.passage_id for h in found["2"]] == ["rocky#0", "heat#0", "up#0"]
    assert [h.score for h in found["1"]] == pytest.approx([16.1181, -16.1181, -16.1181], abs=1e-4)
    assert len(scorer.calls) == 1 and len(scorer.calls[0]) == 6
    assert (
        scorer.calls[0][1][1] == "Jaws . Production . It was directed by Steven Spielberg and scored by John Williams."
    )


def test_reranker_alone_cuts_at_its_depth(films):
    frame = Fixed({"q": [p.passage_id for p in films]}).transform(pd.DataFrame({"qid": ["q"], "query": ["boxer"]}))
    found = CrossEncoderReranker(Overlap(), {p.passage_id: p for p in films}, 2, 0).transform(frame)
    assert list(found["docno"]) == ["jaws#0", "jaws#1"] and list(found["rank"]) == [0, 1]


class Given:
    """Scores passages by the given probability of their text."""

    def __init__(self, scores):
        self.given = scores

    def scores(self, pairs):
        return np.array([[self.given[text]] for _, text in pairs])


def reranked(probabilities, first_scores, weight):
    passages = {name: make_passage(name, name) for name in probabilities}
    reranker = CrossEncoderReranker(Given(probabilities), passages, 10, weight)
    rows = [("q", "t", name, score, rank) for rank, (name, score) in enumerate(first_scores.items())]
    found = reranker.transform(pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank"]))
    return dict(zip(found["docno"], found["score"], strict=True))


def test_reranking_adds_the_share_of_the_first_stage_to_the_logit():
    found = reranked({"a": 0.5, "b": 0.8, "c": 0.2}, {"a": 8.0, "b": 4.0, "c": 2.0}, 2)
    # logits 0, ln 4 and -ln 4; shares 1, 1/2 and 1/4 of the best, weighed by 2
    assert found == pytest.approx({"b": np.log(4) + 1, "a": 2.0, "c": 0.5 - np.log(4)}, abs=1e-5)
    assert list(found) == ["b", "a", "c"]


def test_reranking_without_the_first_stage_is_by_the_model_alone():
    assert list(reranked({"a": 0.4, "b": 0.9}, {"a": 100.0, "b": 0.1}, 0)) == ["b", "a"]


def test_sure_models_and_first_stages_below_zero_give_finite_scores():
    assert np.isfinite(list(reranked({"a": 1.0, "b": 0.0}, {"a": -0.1, "b": -0.2}, 4).values())).all()


def test_a_graph_is_a_third_ranking_in_the_fusion():
    graph = Fixed({"q": ["d", "a"]})
    pipe = pipeline.build(BOTH | {"graph": {"depth": 2}}, Fixed({"q": ["a", "b"]}), Fixed({"q": ["c"]}), None, graph)
    found = pipeline.search_with_sources(pipe, [("q", "text", ())])["q"]
    # a: 1/61 + 1/62; c and d: 1/61; b: 1/62
    assert [(hit.passage_id, sources) for hit, sources in found] == [
        ("a", "lexical graph"), ("c", "dense"), ("d", "graph"), ("b", "lexical")
    ]  # fmt: skip
    assert found[0].hit.score == pytest.approx(1 / 61 + 1 / 62)


def test_a_graph_without_a_match_changes_no_ranking():
    first, second = Fixed({"q": ["a", "b"]}), Fixed({"q": ["b", "c"]})
    with_graph = pipeline.build(BOTH | {"graph": {"depth": 5}}, first, second, None, Fixed({}))
    without = pipeline.build(BOTH, first, second, None)
    query = [("q", "text", ())]
    assert pipeline.search_with_sources(with_graph, query) == pipeline.search_with_sources(without, query)


def test_scores_that_are_no_numbers_stop_the_reranking(films):
    class Broken:
        def scores(self, pairs):
            return np.full((len(pairs), 1), np.nan)

    reranker = CrossEncoderReranker(Broken(), {p.passage_id: p for p in films}, 3, 0)
    pipe = pipeline.build(BOTH | {"dense": None, "rerank": {"depth": 3}}, Fixed({"q": ["up#0"]}), None, reranker)
    with pytest.raises(ValueError, match="must be finite"):
        pipeline.search(pipe, [("q", "x", ())])


@pytest.mark.parametrize(
    "changes, key",
    [
        ({"lexical": None, "dense": None}, "retriever"),
        ({"lexical": None, "dense": None, "graph": {"depth": 5}}, "retriever"),
        ({"graph": {"depth": 5}}, "retriever.graph"),
        ({"rerank": {"depth": 5}}, "retriever.rerank"),
        ({"dense": None, "lexical": {"depth": 31}}, "retriever.lexical.depth"),
    ],
)
def test_settings_that_cannot_be_met_name_their_key(changes, key):
    stage = Fixed({})
    stage.depth = 30
    options = BOTH | {"lexical": {"depth": 30}, "dense": {"depth": 30}} | changes
    with pytest.raises(ConfigError) as error:
        pipeline.build(options, stage, stage, None)
    assert error.value.key == key


def test_rankings_survive_their_run_file(world, tmp_path):
    for name, pipe in world[1].items():
        found = pipeline.search(pipe, [("q1", "shark", ()), ("q2", "paris film", ()), ("q3", "", ())])
        write_run(tmp_path / f"{name}.tsv.gz", found, name)
        assert read_run(tmp_path / f"{name}.tsv.gz") == {qid: hits for qid, hits in found.items() if hits}
