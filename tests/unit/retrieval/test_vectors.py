"""Vectors on disk: what is embedded, shards, and going on after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_corpora import HashEmbedder, make_passage, named

from calibrag.errors import InputError
from calibrag.retrieval import vectors

BOTH = {"names": 10, "origins": ["passage", "document"]}


def embed(passages, path, embedder=None, key="k", count=None, **more):
    settings = BOTH | more
    count = len(passages) if count is None else count
    return vectors.embed_passages(named(passages), count, embedder or HashEmbedder(), **settings, path=path, key=key)


def test_embedding_text_has_the_first_names_then_title_heading_and_contents():
    passage = make_passage("a#0", "He won.", "Life of Pi", "Awards")
    names = ["Ang Lee", "Ang Lee", " ", "Suraj Sharma", "Yann Martel"]
    assert vectors.embedding_text(passage, names, 2) == "Ang Lee, Suraj Sharma. Life of Pi. Awards. He won."
    assert vectors.embedding_text(make_passage("a#0", "He won.", "Life of Pi"), [], 10) == "Life of Pi. He won."


@pytest.mark.parametrize("origins, text", [(["passage"], "Carl. Up. A widower."), (["document"], "Up. A widower.")])
def test_only_names_of_the_wanted_origins_are_embedded(tmp_path, origins, text):
    passage = make_passage("up#0", "A widower.", "Up")
    embedder = HashEmbedder()
    stream = named([passage], {"up#0": ["Carl"]})
    vectors.embed_passages(stream, 1, embedder, names=10, origins=origins, path=tmp_path / "v.npy", key="k")
    assert embedder.calls == [[text]]


def test_vectors_are_written_block_by_block(tmp_path, monkeypatch, films):
    monkeypatch.setattr(vectors, "_BLOCK", 3)
    embedder = HashEmbedder()
    assert embed(films, tmp_path / "v.npy", embedder) == 0
    assert [len(call) for call in embedder.calls] == [3, 3, 2]
    written = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert np.array_equal(written, np.concatenate([HashEmbedder().encode(call) for call in embedder.calls]))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["v.npy"]


@pytest.mark.parametrize("count", [7, 9])
def test_a_wrong_count_leaves_no_vectors(tmp_path, films, count):
    with pytest.raises(ValueError, match="count must be the number of passages"):
        embed(films, tmp_path / "v.npy", count=count)
    assert not (tmp_path / "v.npy").exists()


class Breaking(HashEmbedder):
    """Fails at its third call."""

    def encode(self, texts):
        if len(self.calls) == 2:
            raise OSError("killed")
        return super().encode(texts)


def interrupted(tmp_path, monkeypatch, films):
    monkeypatch.setattr(vectors, "_BLOCK", 2)
    with pytest.raises(OSError, match="killed"):
        embed(films, tmp_path / "v.npy", Breaking())
    assert not (tmp_path / "v.npy").exists()


def test_an_interrupted_job_goes_on_where_it_stopped(tmp_path, monkeypatch, films):
    interrupted(tmp_path, monkeypatch, films)
    embedder = HashEmbedder()
    assert embed(films, tmp_path / "v.npy", embedder) == 4
    assert sum(map(len, embedder.calls)) == len(films) - 4
    embed(films, tmp_path / "whole.npy")
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_another_key_starts_anew(tmp_path, monkeypatch, films):
    interrupted(tmp_path, monkeypatch, films)
    assert embed(films, tmp_path / "v.npy", key="other") == 0


KILLED = """
import sys, time
sys.path[:0] = {paths!r}
from small_corpora import HashEmbedder, make_passage, named
from calibrag.retrieval import vectors
vectors._BLOCK = 10
class Slow(HashEmbedder):
    def encode(self, texts):
        print(len(self.calls), flush=True)
        time.sleep(0.01)
        return super().encode(texts)
passages = [make_passage(f"d{{i}}#0", f"text {{i}}") for i in range(1000)]
vectors.embed_passages(named(passages), 1000, Slow(), names=0, origins=[], path={path!r}, key="k")
"""


def test_kill_9_costs_one_block_and_changes_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_BLOCK", 10)
    passages = [make_passage(f"d{i}#0", f"text {i}") for i in range(1000)]
    paths = [str(Path(__file__).parent), *sys.path]
    code = KILLED.format(paths=paths, path=str(tmp_path / "v.npy"))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    while int(process.stdout.readline()) < 20:
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    done = embed(passages, tmp_path / "v.npy", names=0, origins=[])
    assert 200 <= done < 1000
    embed(passages, tmp_path / "whole.npy", names=0, origins=[])
    assert (tmp_path / "v.npy").read_bytes() == (tmp_path / "whole.npy").read_bytes()


def test_shards_read_as_one_array(tmp_path):
    rows = np.arange(30, dtype=np.float32).reshape(10, 3)
    for number, part in enumerate((rows[:4], rows[4:4], rows[4:])):
        np.save(tmp_path / f"{number}.npy", part)
    joined = vectors.Vectors([tmp_path / f"{number}.npy" for number in range(3)])
    assert len(joined) == 10 and joined.dimension == 3
    assert np.array_equal(np.concatenate(list(joined.blocks())), rows)
    chosen = [9, 0, 4, 3, 9]
    assert np.array_equal(joined[chosen], rows[chosen])


@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_a_file_of_no_vectors_is_named(tmp_path, content):
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(InputError, match="v.npy.*no array of vectors"):
        vectors.Vectors([tmp_path / "v.npy"])
