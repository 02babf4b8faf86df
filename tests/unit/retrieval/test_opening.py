"""Opening retrievers from settings: only what they name, and no index of another corpus or of other settings."""

from __future__ import annotations

import numpy as np
import pytest
from small_corpora import HashEmbedder, ids_of, named

from calibrag.corpus.store import PassageStore, write_passages
from calibrag.errors import InputError
from calibrag.retrieval import dense, opening, pipeline, sparse
from calibrag.retrieval.vectors import Vectors

LEXICAL = {"engine": "tantivy", "boosts": {"text": 1.0}, "depth": 5}
SQ8 = {
    "name": "small",
    "vectors": "text",
    "build": {"type": "sq8"},
    "search": {"device": "cpu", "rescore": 2},
}
NEITHER = {"lexical": None, "dense": None, "graph": None, "rrf_k": 60, "rerank": None, "returned": 3}
MODELS = {"device": "cpu", "embedder": {}}


@pytest.fixture
def folder(tmp_path, films, monkeypatch):
    """Indexes of the films, the vectors in two shards; queries are embedded by a stand-in."""
    monkeypatch.setattr(opening, "open_embedder", lambda *_: HashEmbedder())
    write_passages(tmp_path / "passages.parquet", films, tmp_path / "passages.arrow")
    options = {"threads": 1, "heap_mb": 15, "stem": True, "stopwords": True, "fold_accents": True}
    sparse.build(named(films), tmp_path / "sparse", **options)
    rows = HashEmbedder().encode([p.text for p in films])
    (tmp_path / "vectors" / "text").mkdir(parents=True)
    np.save(tmp_path / "vectors" / "text" / "1-of-2.npy", rows[:3])
    np.save(tmp_path / "vectors" / "text" / "2-of-2.npy", rows[3:])
    ids = ids_of(p.passage_id for p in films)
    dense.build(Vectors([rows[:3], rows[3:]]), ids, tmp_path / "dense" / "small", {"type": "sq8"}, threads=1)
    return tmp_path


def opened(folder, store=None, models=MODELS, **settings):
    store = store or PassageStore.open(folder / "passages.arrow")
    vectors = [folder / "vectors" / "text" / f"{n}-of-2.npy" for n in (1, 2)]
    lexical = folder / ("terrier" if (settings.get("lexical") or LEXICAL)["engine"] == "terrier" else "sparse")
    files = opening.IndexFiles([lexical], [folder / "dense" / "small" / "index.faiss"], vectors, [])
    return opening.open_retriever(NEITHER | settings, files, store, models, 1)


def test_both_indexes_are_searched(folder, films):
    retriever = opened(folder, lexical=LEXICAL, dense={"index": SQ8, "depth": 5})
    found = pipeline.search(retriever, [("q", films[5].text, ())])["q"]
    assert found[0].passage_id == "heat#0" and found[0].score == pytest.approx(2 / 61)


def test_a_lexical_retriever_needs_no_vectors_and_no_model(folder):
    for name in ("vectors", "dense"):
        (folder / name).rename(folder / f"no-{name}")
    found = pipeline.search(opened(folder, models={}, lexical=LEXICAL), [("q", "shark", ())])["q"]
    assert [hit.passage_id for hit in found] == ["jaws#0"]


def test_a_dense_retriever_needs_no_sparse_index(folder):
    (folder / "sparse").rename(folder / "elsewhere")
    assert pipeline.search(opened(folder, dense={"index": SQ8, "depth": 5}), [("q", "shark", ())])["q"]


@pytest.mark.parametrize("change", ["order", "fewer", "others"])
@pytest.mark.parametrize(
    "search, kind", [({"lexical": LEXICAL}, "sparse"), ({"dense": {"index": SQ8, "depth": 5}}, "dense")]
)
def test_an_index_of_other_passages_is_refused(folder, films, search, kind, change):
    others = {"order": films[::-1], "fewer": films[1:], "others": [*films[:-1], films[0]]}[change]
    write_passages(folder / "others.parquet", others, folder / "others.arrow")
    with pytest.raises(InputError, match=f"{kind} index was built from other passages.*run the workflow again"):
        opened(folder, PassageStore.open(folder / "others.arrow"), **search)


def test_an_index_of_other_settings_is_refused(folder):
    with pytest.raises(InputError, match=r"must be built with \{'type': 'flat'\} \(got \{'type': 'sq8'\}\)"):
        opened(folder, dense={"index": SQ8 | {"build": {"type": "flat"}}, "depth": 5})


def test_vectors_that_are_gone_are_named(folder):
    (folder / "vectors" / "text" / "2-of-2.npy").unlink()
    with pytest.raises(InputError, match=r"2-of-2\.npy: no array of vectors"):
        opened(folder, dense={"index": SQ8, "depth": 5})


def test_terrier_is_opened_where_it_is_named(folder):
    with pytest.raises(InputError, match="no whole Terrier index"):
        opened(folder, lexical=LEXICAL | {"engine": "terrier"})
