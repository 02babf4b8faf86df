"""Passages with their names, read in step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpora import make_passage, named

from calibrag.corpus.store import write_annotations, write_passages
from calibrag.errors import InputError
from calibrag.records import Annotation
from calibrag.retrieval.named import read_named_passages, with_names

PASSAGES = [make_passage(f"d{i}#0", f"text {i}") for i in range(9)]


def notes(*places):
    return [Annotation(passage_id=f"d{i}#0", name=f"N{n}", origin="passage") for n, i in enumerate(places)]


@given(counts=st.lists(st.integers(0, 3), min_size=9, max_size=9))
@settings(deadline=None)
def test_each_passage_comes_with_its_own_notes(counts):
    expected = list(named(PASSAGES, {p.passage_id: list("abc"[:n]) for p, n in zip(PASSAGES, counts, strict=True)}))
    flat = [annotation for _, found in expected for annotation in found]
    assert list(with_names(PASSAGES, flat, "f")) == expected


@pytest.mark.parametrize("places", [(3, 2), (1, 2, 1), (0, 12), (5, 5, 4, 6)])
def test_names_out_of_order_or_of_no_passage_are_refused(places):
    with pytest.raises(InputError, match=r"a\.parquet: names of .* out of the corpus's order"):
        list(with_names(PASSAGES, notes(*places), "a.parquet"))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_shards_joined_are_the_corpus(tmp_path, count):
    passages, annotations = tmp_path / "p.parquet", tmp_path / "a.parquet"
    write_passages(passages, PASSAGES)
    write_annotations(annotations, notes(0, 0, 2, 4, 4, 8))
    shards = [list(read_named_passages(passages, annotations, f"{n}-of-{count}")) for n in range(1, count + 1)]
    assert sum(shards, []) == list(with_names(PASSAGES, notes(0, 0, 2, 4, 4, 8), "f"))


def test_a_shard_with_names_out_of_order_is_refused(tmp_path):
    passages, annotations = tmp_path / "p.parquet", tmp_path / "a.parquet"
    write_passages(passages, PASSAGES)
    write_annotations(annotations, notes(1, 0, 8))
    with pytest.raises(InputError, match="names of d0#0 stand out of the corpus's order"):
        list(read_named_passages(passages, annotations, "1-of-2"))
    assert len(list(read_named_passages(passages, annotations, "2-of-2"))) > 0
