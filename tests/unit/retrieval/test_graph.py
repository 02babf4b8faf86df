"""The co-occurrence graph on corpora worked by hand: counts, PMI, matching, exclusion."""

import itertools
from math import log2

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_entities import opened

from calibrag.errors import InputError
from calibrag.retrieval import graph

IDS = [f"p{i}" for i in range(8)]
CARRIED = {
    "p0": ["Heat", "Al Pacino", "Michael Mann"],
    "p1": ["Heat", "Al Pacino"],
    "p2": ["Heat", "Val Kilmer"],
    "p3": ["Michael Mann", "Heat"],
    "p4": ["Paris"],
    "p5": ["Al Pacino", "Paris"],
}
SETTINGS = {"min_count": 1, "smoothing": 0, "names_per_passage": 50}


def built(folder, carried=CARRIED, ids=IDS, depth=10, **changes):
    (folder / "graph").mkdir(exist_ok=True)
    index = opened(carried, ids, folder / "graph")
    graph.build(index, folder / "graph" / "edges.parquet", **SETTINGS | changes)
    return graph.GraphRetriever.open(folder / "graph", ids, depth)


def edges(folder):
    """Return {(name, name): (shared passages, PMI)}."""
    names = pq.read_table(folder / "graph" / "nodes.parquet").column("key").to_pylist()
    rows = pq.read_table(folder / "graph" / "edges.parquet").to_pylist()
    return {(names[r["source"]], names[r["target"]]): (r["passages"], r["pmi"]) for r in rows}


def test_counts_and_pmi_by_hand(tmp_path):
    built(tmp_path)
    # 8 passages: heat in 4, al pacino in 3, michael mann in 2, paris in 2, val kilmer in 1
    assert edges(tmp_path) == {
        ("al pacino", "heat"): (2, pytest.approx(log2(2 * 8 / (3 * 4)))),
        ("al pacino", "michael mann"): (1, pytest.approx(log2(1 * 8 / (3 * 2)))),
        ("al pacino", "paris"): (1, pytest.approx(log2(1 * 8 / (3 * 2)))),
        ("heat", "michael mann"): (2, pytest.approx(log2(2 * 8 / (4 * 2)))),
        ("heat", "val kilmer"): (1, pytest.approx(log2(1 * 8 / (4 * 1)))),
    }


def test_counts_whose_product_is_beyond_32_bits_give_their_pmi(tmp_path):
    ids = [f"p{i}" for i in range(50_000)]
    built(tmp_path, {p: ["Ann", "Bo"] for p in ids[1:]} | {"p0": ["Ann"]}, ids)
    assert edges(tmp_path) == {("ann", "bo"): (49_999, 0.0)}


def test_smoothing_is_added_to_every_count(tmp_path):
    built(tmp_path, smoothing=2)
    assert edges(tmp_path)["al pacino", "heat"] == (2, pytest.approx(log2(4 * 10 / (5 * 6))))


def test_rare_pairs_are_no_edges(tmp_path):
    built(tmp_path, min_count=2)
    assert set(edges(tmp_path)) == {("al pacino", "heat"), ("heat", "michael mann")}


def test_a_long_list_is_cut_to_its_commonest_names(tmp_path):
    built(tmp_path, names_per_passage=2)
    # of p0, heat (4) and al pacino (3) are commoner than michael mann (2)
    assert edges(tmp_path)["heat", "michael mann"][0] == 1
    assert ("al pacino", "michael mann") not in edges(tmp_path)


@given(
    carried=st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=1, max_size=10),
    min_count=st.integers(1, 3),
    work=st.integers(1, 30),
)
@settings(max_examples=50, deadline=None)
def test_blocks_of_any_size_count_what_a_plain_loop_counts(tmp_path_factory, carried, min_count, work):
    folder = tmp_path_factory.mktemp("graph")
    ids = [f"p{i}" for i in range(len(carried))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "_WORK", work)
        built(folder, dict(zip(ids, carried, strict=True)), ids, min_count=min_count)
    pairs = [pair for names in carried for pair in itertools.combinations(sorted(names), 2)]
    expected = {pair: pairs.count(pair) for pair in set(pairs) if pairs.count(pair) >= min_count}
    assert {pair: shared for pair, (shared, _) in edges(folder).items()} == expected


def test_names_are_matched_longest_first_by_their_words(tmp_path):
    retriever = built(tmp_path, {"p0": ["New York", "York", "New York City", "The Who", "Who"]})

    def matched(text):
        return [retriever.index.names[node].as_py() for node in retriever.names_in(text)]

    assert matched("who left NEW-YORK CITY for York; York, new york?") == ["New York City", "York", "New York"]
    assert matched("Did the Who play?") == ["The Who"]


def test_a_match_is_passages_that_carry_both_names_of_an_edge(tmp_path):
    match = built(tmp_path).match("Did Al Pacino play in Heat by Michael Mann?", ())
    # p0 bears all three edges, p3 that of heat and mann (1 bit), p1 that of heat and pacino (log2 4/3)
    assert match.passage_ids == ["p0", "p3", "p1"]
    assert match.scores == pytest.approx([2 * log2(4 / 3) + 1, 1, log2(4 / 3)], abs=1e-5)
    assert match.names == ["Al Pacino", "Heat", "Michael Mann"]


@pytest.mark.parametrize("query", ["", "Who made Heat?", "Paris or Heat?", "Robert De Niro and Al Capone", "?!"])
def test_one_name_or_two_without_an_edge_match_nothing(tmp_path, query):
    assert built(tmp_path).match(query, ()) == ([], [], [])


def test_an_edge_weaker_than_chance_matches_nothing(tmp_path):
    carried = {f"p{i}": ["Ann", "Bo"] if i == 0 else ["Ann"] if i < 5 else ["Bo"] for i in range(8)}
    retriever = built(tmp_path, carried)
    assert retriever.pmi(0, 1) == pytest.approx(log2(8 / (5 * 4)))
    assert retriever.match("Ann and Bo", ()) == ([], [], [])


def test_excluded_passages_are_not_returned_and_what_only_they_bear_is_not_told(tmp_path):
    retriever = built(tmp_path)
    assert retriever.match("Al Pacino in Heat", {"p0"}).passage_ids == ["p1"]
    assert retriever.match("Al Pacino in Heat", {"p0", "p1"}) == ([], [], [])
    match = retriever.match("Al Pacino, Heat, Val Kilmer", {"p2"})
    assert match.names == ["Al Pacino", "Heat"] and match.passage_ids == ["p0", "p1"]


def test_depth_is_kept_after_the_exclusion(tmp_path):
    assert built(tmp_path, depth=1).match("Al Pacino in Heat", {"p0"}).passage_ids == ["p1"]


def test_a_ranking_frame_has_a_row_a_passage_and_none_without_a_match(tmp_path):
    frame = pd.DataFrame({"qid": ["1", "2"], "query": ["Al Pacino in Heat", "nothing"], "exclude": [{"p0"}, set()]})
    found = built(tmp_path).transform(frame)
    assert found[["qid", "docno", "rank"]].values.tolist() == [["1", "p1", 0]]


def test_a_graph_without_edges_matches_nothing(tmp_path):
    retriever = built(tmp_path, {})
    assert retriever.match("Al Pacino in Heat", ()) == ([], [], [])
    assert retriever.transform(pd.DataFrame({"qid": ["1"], "query": ["Heat"]})).empty


def test_damaged_or_strange_edges_say_how_to_build_them_again(tmp_path):
    built(tmp_path)
    path = tmp_path / "graph" / "edges.parquet"
    whole = path.read_bytes()
    for broken, problem in ((whole[:-20], "no edges"), ((path.parent / "nodes.parquet").read_bytes(), "must have the")):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=f"{problem}.*run the workflow again"):
            graph.GraphRetriever.open(tmp_path / "graph", IDS, 5)
    path.write_bytes(whole)
    opened({"p0": ["Heat"]}, IDS, tmp_path / "graph")
    with pytest.raises(InputError, match="not among the 1 nodes"):
        graph.GraphRetriever.open(tmp_path / "graph", IDS, 5)
