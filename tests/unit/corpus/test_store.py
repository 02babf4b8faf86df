"""Passages and annotations on disk."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrag.corpus import store
from calibrag.errors import InputError
from calibrag.records import Annotation, Passage


def passage(doc_id, ordinal, heading=None, text="Text."):
    return Passage(
        passage_id=f"{doc_id}#{ordinal}",
        doc_id=doc_id,
        title=f"Title {doc_id}",
        heading=heading,
        kind="text",
        ordinal=ordinal,
        start=0,
        end=len(text),
        text=text,
    )


PASSAGES = [passage("b", 0), passage("b", 1, "Cast", "Zoë é 中"), passage("b", 2), passage("a", 0)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "folder" / "passages.parquet"
    assert store.write_passages(path, iter(PASSAGES)) == 4
    return path


def test_passages_come_back_as_they_were_written(path):
    assert list(store.read_passages(path)) == PASSAGES


def test_a_store_gives_passages_by_id_in_file_order(path):
    passages = store.PassageStore.open(path)
    assert passages.ids == ["b#0", "b#1", "b#2", "a#0"]
    assert len(passages) == 4
    assert passages["b#1"] == PASSAGES[1]
    assert "a#0" in passages and "a#1" not in passages
    assert passages.texts(["b#1", "a#0"]) == ["Zoë é 中", "Text."]
    with pytest.raises(KeyError):
        passages["a#1"]


def test_neighbours_stay_in_the_document(path):
    passages = store.PassageStore.open(path)
    assert passages.neighbours("b#1") == (PASSAGES[0], PASSAGES[2])
    assert passages.neighbours("b#0") == (None, PASSAGES[1])
    assert passages.neighbours("b#2") == (PASSAGES[1], None)
    assert passages.neighbours("a#0") == (None, None)


def test_no_passages_make_an_empty_store(tmp_path):
    path = tmp_path / "passages.parquet"
    assert store.write_passages(path, []) == 0
    assert len(store.PassageStore.open(path)) == 0


def test_many_passages_cross_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_ROWS", 3)
    path = tmp_path / "passages.parquet"
    passages = [passage("d", ordinal) for ordinal in range(10)]
    store.write_passages(path, passages)
    assert list(store.read_passages(path)) == passages
    assert store.PassageStore.open(path).neighbours("d#5") == (passages[4], passages[6])


def test_names_are_grouped_by_passage_in_order(tmp_path):
    path = tmp_path / "annotations.parquet"
    annotations = [
        Annotation(passage_id=passage_id, name=name, origin="passage")
        for passage_id, name in (("a#0", "Ripley"), ("a#0", "Kane"), ("b#0", "Ash"))
    ]
    assert store.write_annotations(path, annotations) == 3
    assert list(store.read_annotations(path)) == annotations
    assert store.names_by_passage(path) == {"a#0": ["Ripley", "Kane"], "b#0": ["Ash"]}


def test_names_are_chosen_by_origin(tmp_path):
    path = tmp_path / "annotations.parquet"
    origins = {"Ripley": "passage", "Kane": "document", "Ash": "passage"}
    store.write_annotations(
        path, [Annotation(passage_id="a#0", name=name, origin=origin) for name, origin in origins.items()]
    )
    assert store.names_by_passage(path, origins=["passage"]) == {"a#0": ["Ripley", "Ash"]}
    assert store.names_by_passage(path, origins=["document"]) == {"a#0": ["Kane"]}
    assert store.names_by_passage(path) == {"a#0": ["Ripley", "Kane", "Ash"]}


def test_passage_ids_come_in_file_order(path):
    assert list(store.read_passage_ids(path)) == ["b#0", "b#1", "b#2", "a#0"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(path):
    def failing():
        yield PASSAGES[0]
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        store.write_passages(path, failing())
    assert list(path.parent.iterdir()) == [path]
    assert list(store.read_passages(path)) == PASSAGES


def test_the_same_passages_give_the_same_bytes(path, tmp_path):
    other = tmp_path / "other.parquet"
    store.write_passages(other, PASSAGES)
    assert other.read_bytes() == path.read_bytes()


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    path = tmp_path / "passages.parquet"
    path.write_bytes(b"half a file")
    with pytest.raises(InputError, match=r"passages\.parquet: no Parquet file .* run the workflow again"):
        store.PassageStore.open(path)


def test_a_file_with_other_columns_is_refused(tmp_path):
    path = tmp_path / "passages.parquet"
    pq.write_table(pa.table({"passage_id": ["a"]}), path)
    with pytest.raises(InputError, match="must have the columns"):
        list(store.read_passages(path))


@pytest.mark.parametrize("rows", [2, 3, 100])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("lengths", [[1], [4, 1, 1, 5], [12], [1] * 9, []])
def test_shards_hold_whole_documents_and_join_to_the_file(tmp_path, monkeypatch, lengths, count, rows):
    monkeypatch.setattr(store, "_ROWS", rows)
    path = tmp_path / "passages.parquet"
    passages = [passage(f"d{n}", ordinal) for n, length in enumerate(lengths) for ordinal in range(length)]
    store.write_passages(path, passages)
    shards = [list(store.read_passages(path, f"{number}-of-{count}")) for number in range(1, count + 1)]
    assert [p for shard in shards for p in shard] == passages
    assert all(shard[0].ordinal == 0 for shard in shards if shard)


def test_shards_are_about_equally_long(tmp_path):
    path = tmp_path / "passages.parquet"
    store.write_passages(path, [passage(f"d{n}", ordinal) for n in range(50) for ordinal in range(2)])
    assert [len(store.shard_rows(path, f"{number}-of-4")) for number in range(1, 5)] == [26, 24, 26, 24]


@pytest.mark.parametrize("shard", ["0-of-2", "3-of-2"])
def test_a_shard_outside_the_count_is_refused(path, shard):
    with pytest.raises(ValueError, match="shard must be from 1-of-2 to 2-of-2"):
        store.shard_rows(path, shard)
