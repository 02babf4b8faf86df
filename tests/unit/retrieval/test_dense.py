"""The dense retriever: each type against all products, exclusion without leaks, ties, batches, damaged indexes, GPU."""

from __future__ import annotations

import json

import faiss
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import HashEmbedder, ids_of, named

from calibrag.errors import ConfigError, InputError
from calibrag.retrieval import dense
from calibrag.retrieval.recall import DEPTHS, measure_recall
from calibrag.retrieval.vectors import Vectors, embed_passages

TOTAL = 160
IDS = [f"d{i}#0" for i in range(TOTAL)]
ROWS = HashEmbedder().encode([f"passage {i % 120}" for i in range(TOTAL)])  # the last forty are copies: ties
VECTORS = Vectors([ROWS[:50], ROWS[50:50], ROWS[50:]])  # three shards, one of them empty

# settings of building and of search; of ivf and hnsw some that miss passages, and some that have to widen their search
TYPES = {
    "flat": ({"type": "flat"}, {}),
    "fp16": ({"type": "fp16"}, {"rescore": 1}),
    "sq8": ({"type": "sq8"}, {"rescore": 1}),
    "ivf": ({"type": "ivf", "lists": 4, "codes": "float32"}, {"probes": 1, "rescore": 1}),
    "ivf-fp16": ({"type": "ivf", "lists": 4, "codes": "fp16"}, {"probes": 1, "rescore": 2}),
    "ivf-sq8": ({"type": "ivf", "lists": 4, "codes": "sq8"}, {"probes": 4, "rescore": 4}),
    "hnsw": ({"type": "hnsw", "links": 8, "build_depth": 40}, {"search_depth": 16}),
}
EXACT = ("flat", "fp16", "sq8")


def opened(path, vectors, kind="flat", depth=10, embedder=None, threads=1, **search):
    chosen = {"device": "cpu"} | TYPES[kind][1] | search
    return dense.DenseRetriever(
        path, vectors, embedder or HashEmbedder(vectors.dimension), depth, chosen, threads=threads
    )


def made(path, vectors, ids, kind="flat", **options):
    dense.build(vectors, ids_of(ids), path, TYPES[kind][0], threads=1)
    return opened(path, vectors, kind, **options)


def frame(*queries, exclude=None):
    table = pd.DataFrame({"qid": [str(i) for i in range(len(queries))], "query": list(queries)})
    return table if exclude is None else table.assign(exclude=exclude)


@pytest.fixture(scope="module")
def retrievers(tmp_path_factory):
    """A retriever of each type over the same vectors."""
    return {kind: made(tmp_path_factory.mktemp(kind), VECTORS, IDS, kind) for kind in TYPES}


@pytest.fixture
def retriever(retrievers):
    return retrievers["flat"]


def by_hand(query: str, keep: list[int], depth: int) -> list[str]:
    scores = ROWS.astype(float) @ HashEmbedder().encode([query])[0].astype(float)
    return [IDS[i] for i in sorted(keep, key=lambda i: (-round(scores[i], 5), IDS[i]))[:depth]]


@pytest.mark.parametrize("kind", EXACT)
@pytest.mark.parametrize("depth", [1, 10, 159, 160, 1000])
def test_ranking_is_that_of_all_products(retrievers, kind, depth):
    chosen = opened(retrievers[kind].folder.path, VECTORS, kind, depth)
    found = chosen.transform(frame("who?", "what?"))
    for qid, query in (("0", "who?"), ("1", "what?")):
        assert list(found.loc[found["qid"] == qid, "docno"]) == by_hand(query, list(range(TOTAL)), depth)


@pytest.mark.parametrize("kind", TYPES)
@given(
    query=st.sampled_from(["who?", "what?", "where is it?"]),
    excluded=st.one_of(st.sets(st.integers(0, TOTAL + 5), max_size=TOTAL), st.just(set(range(TOTAL)))),
)
@settings(max_examples=25, deadline=None)
def test_exclusion_leaks_nothing_and_costs_no_result(retrievers, kind, query, excluded):
    cell = frozenset(f"d{i}#0" for i in excluded)
    found = retrievers[kind].transform(frame(query, query, exclude=[cell, frozenset()]))
    first, second = found[found["qid"] == "0"], found[found["qid"] == "1"]
    keep = [i for i in range(TOTAL) if i not in excluded]
    assert not set(first["docno"]) & cell
    assert first["docno"].is_unique and len(first) == min(10, len(keep)) and len(second) == 10
    scores = ROWS.astype(float) @ HashEmbedder().encode([query])[0].astype(float)
    assert list(first["score"]) == pytest.approx([scores[IDS.index(i)] for i in first["docno"]], abs=1e-5)
    if kind in EXACT:
        assert list(first["docno"]) == by_hand(query, keep, 10)
        assert list(second["docno"]) == by_hand(query, list(range(TOTAL)), 10)


def test_an_exclusion_is_a_corpus_without_those_passages(tmp_path, retriever):
    keep = [i for i in range(TOTAL) if i % 3]
    without = made(tmp_path, Vectors([ROWS[keep]]), [IDS[i] for i in keep]).transform(frame("who?"))
    found = retriever.transform(frame("who?", exclude=[frozenset(IDS[::3])]))
    assert list(without["docno"]) == list(found["docno"]) and list(without["score"]) == list(found["score"])


@pytest.mark.parametrize("kind", TYPES)
def test_ties_stand_in_order_of_ids_even_past_what_is_fetched(tmp_path, kind):
    ids = [f"p{i:03d}#0" for i in np.random.default_rng(0).permutation(300)]
    vectors = Vectors([np.tile(ROWS[:1], (300, 1))])
    found = made(tmp_path, vectors, ids, kind, depth=5).transform(frame("x"))
    assert list(found["docno"]) == [f"p{i:03d}#0" for i in range(5)]


@pytest.mark.parametrize("kind", TYPES)
def test_ranking_depends_neither_on_threads_nor_on_the_batch(retrievers, kind):
    queries = [f"question {i}" for i in range(40)]
    path = retrievers[kind].folder.path
    together = opened(path, VECTORS, kind, threads=2).transform(frame(*queries))
    alone = opened(path, VECTORS, kind)
    rows = [alone.transform(pd.DataFrame({"qid": [str(i)], "query": [q]})) for i, q in enumerate(queries)]
    pd.testing.assert_frame_equal(together, pd.concat(rows, ignore_index=True))


# --- recall of the types on vectors with structure, as embeddings have it ---------------------------


@pytest.fixture(scope="module")
def clustered():
    """Four thousand unit vectors around sixty centres, in 32 dimensions."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 32))[rng.integers(0, 60, 4000)] + 0.6 * rng.normal(size=(4000, 32))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


SETTINGS = {
    "flat": ({"type": "flat"}, {}, 1.0),
    "fp16": ({"type": "fp16"}, {"rescore": 1}, 1.0),
    "sq8": ({"type": "sq8"}, {"rescore": 1}, 1.0),
    "ivf": ({"type": "ivf", "lists": 32, "codes": "float32"}, {"probes": 12, "rescore": 1}, 0.9),
    "ivf-sq8": ({"type": "ivf", "lists": 32, "codes": "sq8"}, {"probes": 12, "rescore": 4}, 0.9),
    "hnsw": ({"type": "hnsw", "links": 16, "build_depth": 80}, {"search_depth": 200}, 0.95),
}


class Chosen:
    """Embeds ``i`` as the i-th of given vectors, moved a little."""

    def __init__(self, rows):
        self.rows = rows
        self.dimension = rows.shape[1]

    def encode(self, texts):
        rng = np.random.default_rng(1)
        rows = self.rows[[int(text) for text in texts]] + 0.05 * rng.normal(size=(len(texts), self.dimension))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("kind", SETTINGS)
def test_recall_against_all_products(tmp_path, clustered, kind):
    building, search, least = SETTINGS[kind]
    vectors = Vectors([clustered])
    dense.build(vectors, ids_of(map(str, range(4000))), tmp_path, building, threads=1)
    chosen = dense.DenseRetriever(tmp_path, vectors, Chosen(clustered), 100, {"device": "cpu"} | search, threads=1)
    queries = [str(i) for i in range(0, 4000, 100)]
    found = chosen.transform(frame(*queries))
    products = Chosen(clustered).encode(queries).astype(float) @ clustered.T.astype(float)
    nearest = [set(map(str, np.argsort(-row)[:100])) for row in products]
    shares = [len(set(found.loc[found["qid"] == str(i), "docno"]) & ids) / 100 for i, ids in enumerate(nearest)]
    assert np.mean(shares) >= least
    table = measure_recall(chosen, [(query, query) for query in queries])
    assert sorted(set(table["depth"])) == list(DEPTHS) and list(table["qid"]) == queries * 2
    # ties at the last place count
    assert list(table.loc[table["depth"] == 100, "recall"]) == pytest.approx(shares, abs=0.011)


@pytest.mark.parametrize("kind", EXACT)
def test_rounding_hides_no_passage_even_where_it_makes_all_alike(tmp_path, kind):
    """Two thousand vectors closer together than one step of the rounding, which two far ones make wide."""
    rng = np.random.default_rng(5)
    crowd = np.full((2000, 16), 0.25) + 0.002 * rng.normal(size=(2000, 16))
    rows = np.vstack([crowd, np.ones((1, 16)), -np.ones((1, 16)), np.eye(16), -np.eye(16)])
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    chosen = made(tmp_path, Vectors([rows]), [f"{i:04d}" for i in range(len(rows))], kind, depth=5)
    queries = rng.normal(size=(10, 16)).astype(np.float32) + 0.5
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    scores = np.round(rows.astype(float) @ queries.T.astype(float), 5)
    for query, column, (found, _) in zip(
        queries, scores.T, chosen.search_vectors(queries, np.zeros(0, dtype=np.int64)), strict=True
    ):
        assert found.tolist() == sorted(range(len(rows)), key=lambda i: (-column[i], i))[:5], query


def test_recall_tells_an_index_that_misses(tmp_path, clustered):
    vectors = Vectors([clustered])
    building, search, _ = SETTINGS["ivf"]
    dense.build(vectors, ids_of(map(str, range(4000))), tmp_path, building, threads=1)
    narrow = {"device": "cpu"} | search | {"probes": 1}
    chosen = dense.DenseRetriever(tmp_path, vectors, Chosen(clustered), 100, narrow, threads=1)
    table = measure_recall(chosen, [(str(i), str(i)) for i in range(0, 4000, 100)])
    assert table.loc[table["depth"] == 100, "recall"].mean() < 0.9


# --- batches ----------------------------------------------------------------------------------------


def test_different_queries_are_embedded_once_and_together(retriever):
    counting = HashEmbedder()
    opened(retriever.folder.path, VECTORS, embedder=counting).transform(
        frame("a", "b", "a", " ", exclude=[frozenset(), frozenset({"d1#0"}), frozenset({"d2#0"}), frozenset()])
    )
    assert counting.calls == [["a", "b"]]


def test_blank_query_finds_nothing_and_disturbs_no_other(retriever):
    found = retriever.transform(frame("", "who?", "  "))
    assert set(found["qid"]) == {"1"} and len(found) == 10


def test_no_queries_give_an_empty_ranking(retriever):
    found = retriever.transform(frame())
    assert found.empty and {"qid", "docno", "score", "rank"} <= set(found.columns)


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows, ids, problem",
    [(ROWS[:2], ["a"], "one a vector"), (ROWS[:2], ["a", "a"], "different"), (ROWS[:1] * 2, ["a"], "length 1")],
)
def test_wrong_vectors_and_ids_are_refused(tmp_path, rows, ids, problem):
    with pytest.raises(ValueError, match=problem):
        made(tmp_path, Vectors([rows]), ids)


def test_more_cells_than_passages_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"lists: must be at most the number of passages, 3 \(got 4\)"):
        made(tmp_path, Vectors([ROWS[:3]]), IDS[:3], "ivf")


@pytest.mark.parametrize(
    "damage", ["absent", "cut short", "format", "faiss", "garbage", "ids", "no ids", "description"]
)
def test_unreadable_index_says_which_rule_builds_it(tmp_path, damage):
    dense.build(VECTORS, ids_of(IDS), tmp_path, {"type": "flat"}, threads=1)
    description, index, ids = (tmp_path / name for name in ("calibrag.json", "index.faiss", "ids.txt"))
    if damage == "absent":
        description.unlink()
    elif damage == "cut short":
        index.write_bytes(index.read_bytes()[:-1])
    elif damage in ("format", "faiss"):
        description.write_text(json.dumps(json.loads(description.read_text()) | {damage: 0}))
    elif damage == "garbage":
        index.write_bytes(b"x" * index.stat().st_size)
    elif damage == "ids":
        ids.write_bytes(b"x" * ids.stat().st_size)
    elif damage == "no ids":
        ids.unlink()
    else:
        description.write_text(description.read_text()[:40])
    with pytest.raises(InputError, match="run the workflow again"):
        opened(tmp_path, VECTORS)


def test_an_index_of_other_vectors_is_refused(tmp_path):
    made(tmp_path, VECTORS, IDS)
    for other in (ROWS[::-1], ROWS[:-1]):
        with pytest.raises(InputError, match="of other vectors.*run the workflow again"):
            opened(tmp_path, Vectors([other]))


def test_building_cut_short_leaves_no_index(tmp_path):
    made(tmp_path, VECTORS, IDS)
    with pytest.raises(ValueError):
        dense.build(Vectors([ROWS * 2]), ids_of(IDS), tmp_path, {"type": "flat"}, threads=1)
    with pytest.raises(InputError, match="no whole dense index"):
        opened(tmp_path, VECTORS)


def test_full_disk_is_one_message_and_leaves_no_index(tmp_path, fill_disk):
    done = fill_disk(
        100_000,
        f"""
        import numpy as np
        from small_corpora import ids_of
        from calibrag.retrieval import dense
        from calibrag.retrieval.vectors import Vectors
        rows = np.eye(400, dtype=np.float32)
        ids = ids_of(map(str, range(400)))
        dense.build(Vectors([rows]), ids, {str(tmp_path)!r}, {{"type": "flat"}}, threads=1)
        """,
    )
    assert "CalibragError" in done and "the dense index could not be written" in done and "make room" in done
    with pytest.raises(InputError, match="no whole dense index"):
        opened(tmp_path, VECTORS)


# --- GPU, by stand-ins: no GPU where this was written -----------------------------------------------


@pytest.mark.parametrize("kind", ["flat", "ivf"])
def test_without_a_gpu_the_message_says_what_to_install(retrievers, kind):
    with pytest.raises(ConfigError, match="FAISS sees no GPU for cuda; install faiss-gpu in place of faiss-cpu"):
        opened(retrievers[kind].folder.path, VECTORS, kind, device="cuda")


@pytest.mark.parametrize("kind", ["fp16", "sq8", "hnsw"])
def test_types_that_no_gpu_has_are_refused_there(retrievers, kind):
    with pytest.raises(ConfigError, match=f"type {kind} runs on the cpu alone"):
        opened(retrievers[kind].folder.path, VECTORS, kind, device="cuda:0")


class StandIn:
    """An index as FAISS keeps it on a GPU: it takes no selector, and returns 2,048 candidates at most."""

    def __init__(self, index):
        self.index = index

    def search(self, queries, k, params=None):
        assert k <= 2048
        assert params is None or params.sel is None
        return self.index.search(queries, k, params=params)


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1)
    monkeypatch.setattr(faiss, "StandardGpuResources", lambda: None, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_gpu", lambda resources, number, index: StandIn(index), raising=False)


@pytest.mark.parametrize("excluded", [0, 5, 100, 155, 160])
def test_search_on_a_gpu_is_that_on_the_cpu(retrievers, gpu, excluded):
    query = frame("who?", exclude=[frozenset(IDS[:excluded])])
    for kind in ("flat", "ivf"):
        found = opened(retrievers[kind].folder.path, VECTORS, kind, device="cuda").transform(query)
        pd.testing.assert_frame_equal(found, retrievers[kind].transform(query))
    with pytest.raises(ConfigError, match="must be cpu or cuda:0 to cuda:0"):
        opened(retrievers["flat"].folder.path, VECTORS, device="cuda:1")


def test_more_candidates_than_a_gpu_returns_are_scanned_for(tmp_path, gpu, clustered):
    vectors, ids = Vectors([clustered]), [str(i) for i in range(4000)]
    dense.build(vectors, ids_of(ids), tmp_path, {"type": "flat"}, threads=1)
    query = frame("7", exclude=[frozenset(ids[:2100])])
    on_gpu, on_cpu = (
        dense.DenseRetriever(tmp_path, vectors, Chosen(clustered), 10, {"device": device}, threads=1).transform(query)
        for device in ("cuda", "cpu")
    )
    pd.testing.assert_frame_equal(on_gpu, on_cpu)


# --- real embeddings --------------------------------------------------------------------------------


def test_minilm_finds_passages_by_meaning(tmp_path, minilm, films):
    path = tmp_path / "v.npy"
    embed_passages(named(films), len(films), minilm, path=path, names=10, origins=["passage"], key="k")
    retriever = made(tmp_path / "i", Vectors.open([path]), [p.passage_id for p in films], embedder=minilm, depth=3)
    queries = ["a man-eating fish", "an old man and his flying home", "love story in France"]
    found = retriever.transform(frame(*queries))
    assert list(found.loc[found["rank"] == 0, "docno"]) == ["jaws#0", "up#0", "amelie#0"]
    excluded = retriever.transform(frame(queries[0], exclude=[["jaws#0"]]))
    assert "jaws#0" not in set(excluded["docno"]) and len(excluded) == 3
