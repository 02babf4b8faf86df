"""Vectors of passages: what is embedded, going on after a kill, shards, files that are no vectors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from small_corpora import HashEmbedder, make_passage, named

from calibrag.errors import CalibragError, InputError
from calibrag.retrieval import vectors
from calibrag.retrieval.vectors import Vectors, embed_passages, embedding_text

PASSAGES = [make_passage(f"d{i}#0", f"text {i}") for i in range(23)]
OPTIONS = {"names": 10, "origins": ["passage", "document"]}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(vectors, "_BLOCK", 5)


def embed(path, embedder=None, key="k", passages=PASSAGES, count=23):
    return embed_passages(named(passages), count, embedder or HashEmbedder(), path=path, key=key, **OPTIONS)


class Dying(HashEmbedder):
    """Stops in the n-th call."""

    def __init__(self, calls_left):
        super().__init__()
        self.calls_left = calls_left

    def encode(self, texts):
        if not self.calls_left:
            raise KeyboardInterrupt
        self.calls_left -= 1
        return super().encode(texts)


def test_embedding_text_has_the_first_names_then_title_heading_and_contents():
    passage = make_passage("a#0", "He won.", "Life of Pi", "Awards")
    names = ["Ang Lee", "Ang Lee", " ", "Suraj Sharma", "Yann Martel"]
    assert embedding_text(passage, names, 2) == "Ang Lee, Suraj Sharma. Life of Pi. Awards. He won."
    assert embedding_text(passage, names, 0) == "Life of Pi. Awards. He won."
    assert embedding_text(make_passage("a#0", "He won.", "Life of Pi"), [], 10) == "Life of Pi. He won."


@pytest.mark.parametrize(
    "names, origins, text",
    [
        (10, ["passage", "document"], "Ang Lee, Oscar. He won."),
        (10, ["passage"], "Ang Lee. He won."),
        (10, ["document"], "Oscar. He won."),
        (1, ["passage", "document"], "Ang Lee. He won."),
        (0, [], "He won."),
    ],
)
def test_names_of_the_wanted_origins_are_embedded(tmp_path, embedder, names, origins, text):
    passage = make_passage("a#0", "He won.")
    both = (
        list(named([passage], {"a#0": ["Ang Lee"]}))[0][1]
        + list(named([passage], {"a#0": ["Oscar"]}, "document"))[0][1]
    )
    embed_passages([(passage, both)], 1, embedder, path=tmp_path / "v.npy", names=names, origins=origins, key="k")
    assert embedder.calls == [[text]]


def test_vectors_are_written_block_by_block(tmp_path, embedder):
    assert embed(tmp_path / "v.npy", embedder) == 0
    rows = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert [len(call) for call in embedder.calls] == [5, 5, 5, 5, 3]
    assert rows.dtype == np.float32 and np.array_equal(rows, HashEmbedder().encode([f"text {i}" for i in range(23)]))
    assert os.listdir(tmp_path) == ["v.npy"]


@pytest.mark.parametrize("finished", [0, 1, 4])
def test_after_an_interruption_the_rest_is_embedded_and_the_file_is_the_same(tmp_path, embedder, finished):
    embed(tmp_path / "whole.npy")
    path = tmp_path / "v.npy"
    with pytest.raises(KeyboardInterrupt):
        embed(path, Dying(finished))
    assert not path.exists()
    assert embed(path, embedder) == 5 * finished
    assert sum(map(len, embedder.calls)) == 23 - 5 * finished
    assert path.read_bytes() == (tmp_path / "whole.npy").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["v.npy", "whole.npy"]


def test_another_key_starts_anew(tmp_path, embedder):
    with pytest.raises(KeyboardInterrupt):
        embed(tmp_path / "v.npy", Dying(3), key="old")
    assert embed(tmp_path / "v.npy", embedder, key="new") == 0
    assert sum(map(len, embedder.calls)) == 23


@pytest.mark.parametrize("lost", [".v.npy.partial", ".v.npy.progress"])
def test_half_of_what_a_kill_left_is_nothing(tmp_path, embedder, lost):
    with pytest.raises(KeyboardInterrupt):
        embed(tmp_path / "v.npy", Dying(3))
    (tmp_path / lost).unlink()
    assert embed(tmp_path / "v.npy", embedder) == 0


def test_killed_process_goes_on_where_it_stopped(tmp_path):
    """A real kill -9 in the middle of a block."""
    path = tmp_path / "v.npy"
    code = """
        import sys, time
        from small_corpora import HashEmbedder, named, make_passage
        from calibrag.retrieval import vectors
        vectors._BLOCK = 5
        class Slow(HashEmbedder):
            def encode(self, texts):
                if len(self.calls) == 3:
                    print("third", flush=True)
                    time.sleep(60)
                return super().encode(texts)
        passages = named([make_passage(f"d{i}#0", f"text {i}") for i in range(23)])
        options = dict(names=10, origins=["passage", "document"], key="k")
        vectors.embed_passages(passages, 23, Slow(), path=sys.argv[1], **options)
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"third\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL and not path.exists()
    assert json.loads((tmp_path / ".v.npy.progress").read_text())["done"] == 15
    assert embed(path) == 15
    embed(tmp_path / "whole.npy")
    assert path.read_bytes() == (tmp_path / "whole.npy").read_bytes()


@pytest.mark.parametrize("count", [22, 24])
def test_a_wrong_count_leaves_no_vectors(tmp_path, count):
    with pytest.raises(ValueError, match="count must be the number of passages"):
        embed(tmp_path / "v.npy", count=count)
    assert not (tmp_path / "v.npy").exists()


def test_an_empty_shard_has_vectors_of_its_own(tmp_path):
    embed(tmp_path / "v.npy", passages=[], count=0)
    embed(tmp_path / "w.npy")
    both = Vectors.open([tmp_path / "v.npy", tmp_path / "w.npy"])
    assert len(both) == 23 and both.dimension == 16


def test_full_disk_is_one_message_before_the_work_begins(tmp_path, fill_disk):
    done = fill_disk(
        50_000,
        f"""
        from small_corpora import HashEmbedder
        from calibrag.retrieval.vectors import embed_passages
        class Untouched(HashEmbedder):
            def encode(self, texts):
                raise AssertionError("no room, no work")
        embed_passages([], 1000, Untouched(), path={str(tmp_path / "v.npy")!r}, names=1, origins=[], key="k")
        """,
    )
    assert "CalibragError" in done and "0 MB of vectors do not fit" in done and "make room" in done
    assert os.listdir(tmp_path) == []


def test_room_is_taken_before_the_work_begins(tmp_path, monkeypatch, embedder):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(CalibragError, match="do not fit .*No space left on device"):
        embed(tmp_path / "v.npy", embedder)
    assert not embedder.calls and os.listdir(tmp_path) == []


def test_rows_are_read_across_shards_in_the_order_asked_for():
    rows = HashEmbedder().encode([str(i) for i in range(10)])
    joined = Vectors([rows[:3], rows[3:3], rows[3:9], rows[9:]])
    wanted = np.array([9, 0, 3, 2, 8, 3])
    assert np.array_equal(joined[wanted], rows[wanted])
    assert np.array_equal(np.concatenate(list(joined.blocks())), rows)
    assert joined.digest == Vectors([rows]).digest != Vectors([rows[::-1]]).digest


@pytest.mark.parametrize("damage", ["cut short", "garbage", "absent", "float64", "one dimension"])
def test_a_file_that_holds_no_vectors_is_named(tmp_path, damage):
    path = tmp_path / "v.npy"
    np.save(path, np.ones((4, 3), dtype=np.float32))
    if damage == "cut short":
        path.write_bytes(path.read_bytes()[:-4])
    elif damage == "garbage":
        path.write_bytes(b"garbage")
    elif damage == "absent":
        path.unlink()
    else:
        np.save(path, np.ones((4, 3)) if damage == "float64" else np.ones(3, dtype=np.float32))
    with pytest.raises(InputError, match=r"v\.npy: no array of vectors"):
        Vectors.open([path])


def test_shards_of_different_dimensions_are_refused(tmp_path):
    for name, width in (("a.npy", 3), ("b.npy", 4)):
        np.save(tmp_path / name, np.ones((2, width), dtype=np.float32))
    with pytest.raises(InputError, match=r"b\.npy: vectors must have 3 dimensions.*got 4"):
        Vectors.open([tmp_path / "a.npy", tmp_path / "b.npy"])
