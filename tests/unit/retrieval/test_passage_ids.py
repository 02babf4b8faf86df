"""Ids of an index by row, rows by id."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.corpus import passage_ids
from calibrag.corpus.passage_ids import PassageIds, digest, read_ids, write_ids

NAMES = st.text(alphabet="abcé#中0", min_size=1, max_size=4)


@given(ids=st.lists(NAMES, unique=True, max_size=40), asked=st.sets(NAMES, max_size=20))
def test_rows_are_those_of_the_ids_that_are_there(ids, asked):
    held = PassageIds(pa.array(ids, pa.string()))
    assert held.rows(asked).tolist() == [row for row, name in enumerate(ids) if name in asked]
    assert held.take(range(len(ids))) == ids == list(held)


@given(st.lists(NAMES, max_size=12))
def test_repeated_ids_are_seen(ids):
    assert PassageIds(pa.array(ids, pa.string())).are_distinct() == (len(set(ids)) == len(ids))


def test_ids_that_share_a_hash_are_told_apart(monkeypatch):
    import numpy as np

    monkeypatch.setattr(passage_ids, "_hashes", lambda ids: np.zeros(len(ids), dtype=np.uint64))
    held = PassageIds(pa.array(["a", "b", "c"]))
    assert held.rows(["c", "a", "x"]).tolist() == [0, 2]
    assert held.are_distinct()


@pytest.mark.parametrize("ids", [[], ["a#0"], ["é#1", "b c", "中#2"]])
def test_ids_come_back_from_their_file(tmp_path, ids):
    write_ids(tmp_path / "ids.txt", ids)
    assert list(read_ids(tmp_path / "ids.txt")) == ids


def test_many_ids_are_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(passage_ids, "_CHUNK", 7)
    ids = [f"d{i}#0" for i in range(50)]
    write_ids(tmp_path / "ids.txt", ids)
    held = read_ids(tmp_path / "ids.txt")
    assert list(held) == ids and held.rows(["d49#0", "d7#0"]).tolist() == [7, 49]


def test_the_digest_follows_ids_and_order():
    assert digest(["a", "b"]) != digest(["b", "a"])
    assert digest(["ab"]) != digest(["a", "b"])
