"""Passages and annotations on disk."""

import gc
import random
import resource

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibrag.corpus import store
from calibrag.errors import CalibragError, InputError
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
    assert store.write_passages(path, iter(PASSAGES), path.with_suffix(".arrow")) == 4
    return path


@pytest.fixture
def opened(path):
    return store.PassageStore.open(path.with_suffix(".arrow"))


def test_passages_come_back_as_they_were_written(path):
    assert list(store.read_passages(path)) == PASSAGES


def test_a_store_gives_passages_by_id_in_file_order(opened):
    assert list(opened.ids) == ["b#0", "b#1", "b#2", "a#0"]
    assert len(opened) == 4
    assert [opened[passage_id] for passage_id in opened.ids] == PASSAGES
    assert "a#0" in opened and "a#1" not in opened
    assert opened.texts(["b#1", "a#0"]) == ["Zoë é 中", "Text."]
    with pytest.raises(KeyError):
        opened["a#1"]


def test_neighbours_stay_in_the_document(opened):
    assert opened.neighbours("b#1") == (PASSAGES[0], PASSAGES[2])
    assert opened.neighbours("b#0") == (None, PASSAGES[1])
    assert opened.neighbours("b#2") == (PASSAGES[1], None)
    assert opened.neighbours("a#0") == (None, None)


def test_no_passages_make_an_empty_store(tmp_path):
    path, arrow = tmp_path / "passages.parquet", tmp_path / "passages.arrow"
    assert store.write_passages(path, [], arrow) == 0
    assert list(store.read_passages(path)) == []
    assert len(store.PassageStore.open(arrow)) == 0
    assert "a#0" not in store.PassageStore.open(arrow)


def test_many_passages_cross_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_ROWS", 3)
    path, arrow = tmp_path / "passages.parquet", tmp_path / "passages.arrow"
    passages = [passage("d", ordinal) for ordinal in range(10)]
    store.write_passages(path, passages, arrow)
    assert list(store.read_passages(path)) == passages
    opened = store.PassageStore.open(arrow)
    assert [opened[p.passage_id] for p in passages] == passages
    assert opened.neighbours("d#5") == (passages[4], passages[6])


def test_a_group_of_rows_is_bounded_by_its_text_too(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_CHARACTERS", 100)
    path = tmp_path / "passages.parquet"
    passages = [passage("d", ordinal, text="x" * length) for ordinal, length in enumerate([60, 60, 10, 500, 1, 1])]
    store.write_passages(path, passages)
    metadata = pq.ParquetFile(path).metadata
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [2, 2, 2]
    assert list(store.read_passages(path)) == passages


def test_annotations_come_back_in_order(tmp_path):
    path = tmp_path / "annotations.parquet"
    annotations = [
        Annotation(passage_id=passage_id, name=name, origin="passage")
        for passage_id, name in (("a#0", "Ripley"), ("a#0", "Kane"), ("b#0", "Ash"))
    ]
    assert store.write_annotations(path, annotations) == 3
    assert list(store.read_annotations(path)) == annotations


def test_passage_ids_come_in_file_order(path):
    assert list(store.read_passage_ids(path)) == ["b#0", "b#1", "b#2", "a#0"]


def test_a_write_that_fails_leaves_the_old_files_and_no_other(path):
    def failing():
        yield PASSAGES[0]
        raise ValueError("a bad document")

    before = sorted(path.parent.iterdir())
    with pytest.raises(ValueError, match="a bad document"):
        store.write_passages(path, failing(), path.with_suffix(".arrow"))
    assert sorted(path.parent.iterdir()) == before
    assert list(store.read_passages(path)) == PASSAGES


@pytest.mark.parametrize("room", [0, 10, 100_000, 400_000])
def test_a_full_disk_is_one_clear_message_and_leaves_no_half_file(tmp_path, monkeypatch, capfd, room):
    monkeypatch.setattr(store, "_ROWS", 100)
    noise = random.Random(1)
    passages = (passage("d", n, text=noise.randbytes(500).hex()) for n in range(1000))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(
            CalibragError, match=r"passages\.\w+: cannot be written \(.+\); make room and run"
        ) as caught:
            store.write_passages(tmp_path / "passages.parquet", passages, tmp_path / "passages.arrow")
        del caught
        gc.collect()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_the_same_passages_give_the_same_bytes(path, tmp_path):
    other = tmp_path / "other.parquet"
    store.write_passages(other, PASSAGES)
    assert other.read_bytes() == path.read_bytes()


def test_a_file_that_is_no_parquet_or_arrow_is_refused(path):
    for file, opening in (
        (path, lambda p: list(store.read_passages(p))),
        (path.with_suffix(".arrow"), store.PassageStore.open),
    ):
        for content in (b"half a file", b"", file.read_bytes()[:-20], file.read_bytes()[:200]):
            file.write_bytes(content)
            with pytest.raises(
                InputError, match=rf"{file.name}: no \w+ file, or a damaged one .* run the workflow again"
            ):
                opening(file)


def test_a_damaged_page_is_found_where_it_is_read(tmp_path):
    path = tmp_path / "passages.parquet"
    store.write_passages(path, [passage("d", n, text=f"Number {n * n}.") for n in range(1000)])
    text = pq.ParquetFile(path).metadata.row_group(0).column(8)
    whole = path.read_bytes()
    for twentieth in range(5, 15):
        damaged = bytearray(whole)
        damaged[text.dictionary_page_offset + text.total_compressed_size * twentieth // 20] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"passages\.parquet: .*damaged"):
            list(store.read_passages(path))


def test_a_damaged_record_is_found_where_it_is_read(path):
    arrow = path.with_suffix(".arrow")
    # the length of a text, which is msgpack's byte before it
    arrow.write_bytes(arrow.read_bytes().replace(b"\xa5Text.", b"\xbfText."))
    opened = store.PassageStore.open(arrow)
    assert opened["b#1"] == PASSAGES[1]
    with pytest.raises(InputError, match=r"passages\.arrow: .*damaged .* run the workflow again"):
        opened["b#0"]


def test_an_arrow_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "passages.arrow"
    with pa.ipc.new_file(str(path), store.LOOKUP.with_metadata({"record": "msgpack: passage_id text"})):
        pass
    with pytest.raises(InputError, match=r"passages\.arrow: was written by another version; remove it"):
        store.PassageStore.open(path)


def test_a_file_with_other_columns_is_refused(tmp_path):
    path = tmp_path / "passages.parquet"
    pq.write_table(pa.table({"passage_id": ["a"]}), path)
    with pytest.raises(InputError, match="must have the columns"):
        list(store.read_passages(path))
    with pa.ipc.new_file(str(tmp_path / "passages.arrow"), pa.schema({"passage_id": pa.string()})):
        pass
    with pytest.raises(InputError, match="must have the columns"):
        store.PassageStore.open(tmp_path / "passages.arrow")


def test_a_missing_file_is_named(tmp_path):
    for opening in (lambda path: list(store.read_passages(path)), store.PassageStore.open):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            opening(tmp_path / "nowhere")


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
