"""The dense retriever: exact and approximate search, exclusion without leaks, ties, batches, damaged indexes."""

from __future__ import annotations

import json

import faiss
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import HashEmbedder, build_dense

from calibrag.errors import ConfigError, InputError
from calibrag.retrieval import dense

TOTAL = 160
IDS = [f"d{i}#0" for i in range(TOTAL)]
VECTORS = HashEmbedder().encode([f"passage {i % 120}" for i in range(TOTAL)])  # the last forty are copies: ties
TYPES = {
    "flat": {},
    "fp16": {},
    "sq8": {},
    "ivf": {"lists": 4, "probes": 2},
    "hnsw": {"links": 8, "build_depth": 40, "search_depth": 40},
}


def frame(*queries, exclude=None):
    table = pd.DataFrame({"qid": [str(i) for i in range(len(queries))], "query": list(queries)})
    return table if exclude is None else table.assign(exclude=exclude)


def opened(path, vectors=VECTORS, ids=IDS, depth=10, threads=1, **index):
    return dense.DenseRetriever(*build_dense(vectors, ids, path, **index), HashEmbedder(), depth, threads=threads)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("dense"))


@pytest.fixture(scope="module")
def of_type(tmp_path_factory):
    """Return one retriever of each type, over the same vectors."""
    return {name: opened(tmp_path_factory.mktemp(name), type=name, **more) for name, more in TYPES.items()}


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
        without = opened(tmp_path_factory.mktemp("without"), VECTORS[keep], [IDS[i] for i in keep])
        ranking = without.transform(frame(query))
        assert list(ranking["docno"]) == list(first["docno"]) and list(ranking["score"]) == list(first["score"])


@pytest.mark.parametrize("name", TYPES)
@given(excluded=st.sets(st.integers(0, TOTAL - 1), max_size=TOTAL), query=st.sampled_from(["who?", "what?"]))
@settings(max_examples=30, deadline=None)
def test_no_type_leaks_an_excluded_passage_or_stops_short(of_type, name, excluded, query):
    cell = frozenset(IDS[i] for i in excluded)
    found = of_type[name].transform(frame(query, exclude=[cell]))
    assert not cell & set(found["docno"])
    assert len(found) == min(10, TOTAL - len(excluded))
    assert found["docno"].is_unique


@pytest.mark.parametrize("name", ["fp16", "sq8"])
def test_rounded_vectors_find_what_exact_search_finds(of_type, name):
    queries = frame(*(f"question {i}" for i in range(30)))
    pd.testing.assert_frame_equal(of_type[name].transform(queries), of_type["flat"].transform(queries))


@pytest.mark.parametrize("name", TYPES)
def test_scores_are_cosines_whatever_the_type(of_type, name):
    found = of_type[name].transform(frame("who?"))
    query = HashEmbedder().encode(["who?"])[0].astype(float)
    cosines = [VECTORS[IDS.index(docno)].astype(float) @ query for docno in found["docno"]]
    assert list(found["score"]) == pytest.approx(cosines, abs=1e-5)


def test_recall_is_one_for_exact_search_and_less_for_one_cell_of_eight(tmp_path):
    rows = np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    ids = [str(i) for i in range(2000)]
    queries = [(str(i), f"question {i}") for i in range(20)] + [("blank", " ")]
    recalls = {}
    for name, index in {"flat": {"type": "flat"}, "ivf": {"type": "ivf", "lists": 8, "probes": 1}}.items():
        built = build_dense(rows, ids, tmp_path / name, **index)
        table = dense.measure_recall(*built, HashEmbedder(), queries, threads=1)
        assert list(table.columns) == ["qid", "depth", "recall"] and len(table) == 20 * len(dense.RECALL_DEPTHS)
        recalls[name] = table["recall"].mean()
    assert recalls["flat"] == 1.0
    assert 0.2 < recalls["ivf"] < 0.95


def test_ties_stand_in_order_of_ids_even_past_what_is_fetched(tmp_path):
    ids = [f"p{i:03d}#0" for i in np.random.default_rng(0).permutation(300)]
    found = opened(tmp_path, np.tile(VECTORS[:1], (300, 1)), ids, depth=5).transform(frame("x"))
    assert list(found["docno"]) == [f"p{i:03d}#0" for i in range(5)]


def test_ranking_depends_neither_on_threads_nor_on_the_batch(tmp_path, retriever):
    queries = [f"question {i}" for i in range(40)]
    together = opened(tmp_path, threads=2).transform(frame(*queries))
    rows = [retriever.transform(pd.DataFrame({"qid": [str(i)], "query": [q]})) for i, q in enumerate(queries)]
    pd.testing.assert_frame_equal(together, pd.concat(rows, ignore_index=True))


def test_different_queries_are_embedded_once_and_together(tmp_path):
    counting = HashEmbedder()
    dense.DenseRetriever(*build_dense(VECTORS, IDS, tmp_path), counting, 5, threads=1).transform(
        frame("a", "b", "a", " ", exclude=[frozenset(), frozenset({"d1#0"}), frozenset({"d2#0"}), frozenset()])
    )
    assert counting.calls == [["a", "b"]]


def test_blank_query_finds_nothing_and_disturbs_no_other(retriever):
    found = retriever.transform(frame("", "who?", "  "))
    assert set(found["qid"]) == {"1"} and len(found) == 10


def test_no_queries_give_an_empty_ranking(retriever):
    found = retriever.transform(frame())
    assert found.empty and {"qid", "docno", "score", "rank"} <= set(found.columns)


def test_building_twice_gives_the_same_index(tmp_path):
    for name, more in TYPES.items():
        for copy in ("a", "b"):
            build_dense(VECTORS, IDS, tmp_path / copy / name, type=name, **more)
        assert (tmp_path / "a" / name / "index.faiss").read_bytes() == (
            tmp_path / "b" / name / "index.faiss"
        ).read_bytes()


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
        build_dense(vectors, ids, tmp_path)


@pytest.mark.parametrize("damage", ["absent", "cut short", "format", "garbage", "ids", "kind", "vectors"])
def test_unreadable_index_says_which_rule_builds_it(tmp_path, damage):
    folder, vectors = build_dense(VECTORS, IDS, tmp_path / "i")
    description = folder / "calibrag.json"
    if damage == "absent":
        description.unlink()
    elif damage == "cut short":
        (folder / "index.faiss").write_bytes((folder / "index.faiss").read_bytes()[:2000])
    elif damage == "format":
        description.write_text(json.dumps(json.loads(description.read_text()) | {"format": 1}))
    elif damage == "garbage":
        (folder / "index.faiss").write_bytes(b"garbage")
    elif damage == "ids":
        (folder / "ids.txt").write_text("a\nb\n")
    elif damage == "vectors":
        vectors = build_dense(VECTORS[:5], IDS[:5], tmp_path / "other")[1]
    else:
        other = faiss.IndexHNSWFlat(16, 4)
        other.add(VECTORS)
        faiss.write_index(other, str(folder / "index.faiss"))
    with pytest.raises(InputError, match="--forcerun build_dense_index"):
        dense.DenseRetriever(folder, vectors, HashEmbedder(), 5, threads=1)


@pytest.mark.skipif(hasattr(faiss, "StandardGpuResources"), reason="faiss-gpu is installed")
def test_a_gpu_without_faiss_gpu_is_refused_with_the_way_out(tmp_path):
    built = build_dense(VECTORS, IDS, tmp_path)
    with pytest.raises(ConfigError, match="models.device: cuda: FAISS sees 0 GPUs; install faiss-gpu"):
        dense.DenseRetriever(*built, HashEmbedder(), 5, threads=1, device="cuda")


def test_minilm_finds_passages_by_meaning(tmp_path, minilm, films):
    built = build_dense(minilm.encode([p.text for p in films]), [p.passage_id for p in films], tmp_path)
    found = dense.DenseRetriever(*built, minilm, 3, threads=1).transform(
        frame("a man-eating fish", "an old man and his flying home", "love story in France")
    )
    assert list(found.loc[found["rank"] == 0, "docno"]) == ["jaws#0", "up#0", "amelie#0"]
