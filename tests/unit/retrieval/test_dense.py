"""The dense retriever: exact search, exclusion without leaks, ties, batches, damaged indexes."""

from __future__ import annotations

import json

import faiss
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import HashEmbedder, make_passage

from calibrag.errors import InputError
from calibrag.retrieval import dense

TOTAL = 160
IDS = [f"d{i}#0" for i in range(TOTAL)]
VECTORS = HashEmbedder().encode([f"passage {i % 120}" for i in range(TOTAL)])  # the last forty are copies: ties


def frame(*queries, exclude=None):
    table = pd.DataFrame({"qid": [str(i) for i in range(len(queries))], "query": list(queries)})
    return table if exclude is None else table.assign(exclude=exclude)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    path = tmp_path_factory.mktemp("dense")
    dense.build(VECTORS, IDS, path)
    return dense.DenseRetriever(path, HashEmbedder(), 10, threads=1)


def by_hand(query: str, keep: list[int], depth: int) -> list[str]:
    scores = VECTORS.astype(float) @ HashEmbedder().encode([query])[0].astype(float)
    return [IDS[i] for i in sorted(keep, key=lambda i: (-round(scores[i], 5), IDS[i]))[:depth]]


def test_ranking_is_that_of_all_products(retriever):
    found = retriever.transform(frame("who?", "what?"))
    for qid, query in (("0", "who?"), ("1", "what?")):
        assert list(found.loc[found["qid"] == qid, "docno"]) == by_hand(query, list(range(TOTAL)), 10)


@given(
    query=st.sampled_from(["who?", "what?", "where is it?"]),
    excluded=st.one_of(st.sets(st.integers(0, TOTAL + 5), max_size=TOTAL), st.just(set(range(TOTAL)))),
)
@settings(max_examples=60, deadline=None)
def test_exclusion_equals_a_corpus_without_those_passages(tmp_path_factory, retriever, query, excluded):
    cell = frozenset(f"d{i}#0" for i in excluded)
    found = retriever.transform(frame(query, query, exclude=[cell, frozenset()]))
    first, second = found[found["qid"] == "0"], found[found["qid"] == "1"]
    keep = [i for i in range(TOTAL) if i not in excluded]
    assert list(first["docno"]) == by_hand(query, keep, 10)
    assert list(second["docno"]) == by_hand(query, list(range(TOTAL)), 10)
    if keep:
        path = tmp_path_factory.mktemp("without")
        dense.build(VECTORS[keep], [IDS[i] for i in keep], path)
        without = dense.DenseRetriever(path, HashEmbedder(), 10, threads=1).transform(frame(query))
        assert list(without["docno"]) == list(first["docno"]) and list(without["score"]) == list(first["score"])


def test_ties_stand_in_order_of_ids_even_past_what_is_fetched(tmp_path):
    ids = [f"p{i:03d}#0" for i in np.random.default_rng(0).permutation(300)]
    dense.build(np.tile(VECTORS[:1], (300, 1)), ids, tmp_path)
    found = dense.DenseRetriever(tmp_path, HashEmbedder(), 5, threads=1).transform(frame("x"))
    assert list(found["docno"]) == [f"p{i:03d}#0" for i in range(5)]


def test_ranking_depends_neither_on_threads_nor_on_the_batch(retriever):
    queries = [f"question {i}" for i in range(40)]
    together = dense.DenseRetriever(retriever.path, HashEmbedder(), 10, threads=2).transform(frame(*queries))
    alone = dense.DenseRetriever(retriever.path, HashEmbedder(), 10, threads=1)
    rows = [alone.transform(pd.DataFrame({"qid": [str(i)], "query": [q]})) for i, q in enumerate(queries)]
    pd.testing.assert_frame_equal(together, pd.concat(rows, ignore_index=True))


def test_different_queries_are_embedded_once_and_together(retriever):
    counting = HashEmbedder()
    dense.DenseRetriever(retriever.path, counting, 5, threads=1).transform(
        frame("a", "b", "a", " ", exclude=[frozenset(), frozenset({"d1#0"}), frozenset({"d2#0"}), frozenset()])
    )
    assert counting.calls == [["a", "b"]]


def test_blank_query_finds_nothing_and_disturbs_no_other(retriever):
    found = retriever.transform(frame("", "who?", "  "))
    assert set(found["qid"]) == {"1"} and len(found) == 10


def test_no_queries_give_an_empty_ranking(retriever):
    found = retriever.transform(frame())
    assert found.empty and {"qid", "docno", "score", "rank"} <= set(found.columns)


def test_embedding_text_has_the_first_names_then_title_heading_and_contents():
    passage = make_passage("a#0", "He won.", "Life of Pi", "Awards")
    names = ["Ang Lee", "Ang Lee", " ", "Suraj Sharma", "Yann Martel"]
    assert dense.embedding_text(passage, names, 2) == "Ang Lee, Suraj Sharma. Life of Pi. Awards. He won."
    assert dense.embedding_text(make_passage("a#0", "He won.", "Life of Pi"), [], 10) == "Life of Pi. He won."


def test_vectors_are_written_block_by_block(tmp_path, monkeypatch, films, embedder):
    monkeypatch.setattr(dense, "_BLOCK", 3)
    ids = dense.embed_passages(iter(films), len(films), {"up#0": ["Carl"]}, embedder, 10, tmp_path / "v.npy")
    vectors = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert ids == [p.passage_id for p in films] and [len(call) for call in embedder.calls] == [3, 3, 2]
    assert np.array_equal(vectors[6], embedder.encode([dense.embedding_text(films[6], ["Carl"], 10)])[0])


@pytest.mark.parametrize("count", [0, 7])
def test_a_wrong_count_leaves_no_vectors(tmp_path, films, embedder, count):
    with pytest.raises(ValueError):
        dense.embed_passages(films[:count][:3], count, {}, embedder, 10, tmp_path / "v.npy")
    assert not (tmp_path / "v.npy").exists()


@pytest.mark.parametrize(
    "vectors, ids, problem",
    [
        (VECTORS[:2], ["a"], "one a vector"),
        (VECTORS[:2], ["a", "a"], "different"),
        (VECTORS[:1] * 2, ["a"], "length 1"),
    ],
)
def test_wrong_vectors_and_ids_are_refused(tmp_path, vectors, ids, problem):
    with pytest.raises(ValueError, match=problem):
        dense.build(vectors, ids, tmp_path)


@pytest.mark.parametrize("damage", ["absent", "cut short", "format", "garbage", "ids", "kind"])
def test_unreadable_index_says_which_rule_builds_it(tmp_path, damage):
    dense.build(VECTORS, IDS, tmp_path)
    description = tmp_path / "calibrag.json"
    if damage == "absent":
        description.unlink()
    elif damage == "cut short":
        (tmp_path / "index.faiss").write_bytes((tmp_path / "index.faiss").read_bytes()[:2000])
    elif damage == "format":
        description.write_text(json.dumps(json.loads(description.read_text()) | {"format": 0}))
    elif damage == "garbage":
        (tmp_path / "index.faiss").write_bytes(b"garbage")
    elif damage == "ids":
        (tmp_path / "ids.txt").write_text("a\nb\n")
    else:
        other = faiss.IndexHNSWFlat(16, 4)
        other.add(VECTORS)
        faiss.write_index(other, str(tmp_path / "index.faiss"))
    with pytest.raises(InputError, match="--forcerun build_dense_index"):
        dense.DenseRetriever(tmp_path, HashEmbedder(), 5, threads=1)


def test_minilm_finds_passages_by_meaning(tmp_path, minilm, films):
    ids = dense.embed_passages(films, len(films), {}, minilm, 10, tmp_path / "v.npy")
    dense.build(np.load(tmp_path / "v.npy", mmap_mode="r"), ids, tmp_path / "i")
    retriever = dense.DenseRetriever(tmp_path / "i", minilm, 3, threads=1)
    queries = ["a man-eating fish", "an old man and his flying home", "love story in France"]
    found = retriever.transform(frame(*queries))
    assert list(found.loc[found["rank"] == 0, "docno"]) == ["jaws#0", "up#0", "amelie#0"]
    excluded = retriever.transform(frame(queries[0], exclude=[["jaws#0"]]))
    assert "jaws#0" not in set(excluded["docno"]) and len(excluded) == 3
