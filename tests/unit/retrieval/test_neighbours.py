"""Neighbours of found passages: order, distance, exclusion."""

from hypothesis import given
from hypothesis import strategies as st
from small_corpora import make_passage

from calibrag.corpus.store import PassageStore, write_passages
from calibrag.retrieval.neighbours import around

IDS = [f"{document}#{ordinal}" for document in "ab" for ordinal in range(5)]


class Store:
    def neighbours(self, passage_id):
        at = IDS.index(passage_id)
        sides = (at - 1, at + 1)
        return tuple(
            make_passage(IDS[i], "x") if 0 <= i < len(IDS) and IDS[i][0] == passage_id[0] else None for i in sides
        )


def ids(found, distance, excluded=()):
    beside = around(found, Store(), distance, excluded)
    return {hit: [passage.passage_id for passage in passages] for hit, passages in beside.items()}


def test_neighbours_come_in_the_order_of_the_document_within_it():
    assert ids(["a#2"], 1) == {"a#2": ["a#1", "a#3"]}
    assert ids(["a#4", "b#0"], 2) == {"a#4": ["a#2", "a#3"], "b#0": ["b#1", "b#2"]}


def test_a_neighbour_of_two_comes_with_the_better_and_found_ones_are_none():
    assert ids(["a#3", "a#1"], 1) == {"a#3": ["a#2", "a#4"], "a#1": ["a#0"]}
    assert ids(["a#1", "a#2"], 1) == {"a#1": ["a#0"], "a#2": ["a#3"]}


def test_excluded_passages_are_stepped_over():
    assert ids(["a#2"], 1, {"a#1"}) == {"a#2": ["a#3"]}
    assert ids(["a#2"], 2, {"a#1"}) == {"a#2": ["a#0", "a#3", "a#4"]}


@given(
    found=st.lists(st.sampled_from(IDS), unique=True),
    distance=st.integers(0, 4),
    excluded=st.sets(st.sampled_from(IDS)),
)
def test_each_passage_near_a_found_one_comes_once_and_no_other(found, distance, excluded):
    found = [passage_id for passage_id in found if passage_id not in excluded]
    beside = ids(found, distance, excluded)
    told = [passage_id for passages in beside.values() for passage_id in passages]
    near = {
        other
        for hit in found
        for other in IDS
        if other[0] == hit[0] and abs(IDS.index(other) - IDS.index(hit)) <= distance
    }
    assert list(beside) == found
    assert len(told) == len(set(told))
    assert set(told) == near - set(found) - excluded
    assert all(passages == sorted(passages) for passages in beside.values())


def test_a_store_on_disk_gives_the_same(tmp_path):
    passages = [make_passage(passage_id, "x") for passage_id in IDS]
    write_passages(tmp_path / "p.parquet", passages, tmp_path / "p.arrow")
    beside = around(["a#2"], PassageStore.open(tmp_path / "p.arrow"), 2, {"a#3"})
    assert [passage.passage_id for passage in beside["a#2"]] == ["a#0", "a#1", "a#4"]
