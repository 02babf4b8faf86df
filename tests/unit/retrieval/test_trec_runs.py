"""Run and qrels files: round trip and what is refused, with file and line."""

from __future__ import annotations

import gzip
import lzma

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.errors import InputError
from calibrag.records import Hit
from calibrag.retrieval.runs import read_qrels, read_rankings, read_run, write_qrels, write_run

GOOD = "q1 Q0 a#0 1 2.5 bm25\nq1 Q0 b#0 2 2.5 bm25\nq2 Q0 a#0 1 -1e-05 bm25\n"
NAME = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=8)


@given(
    rankings=st.dictionaries(
        NAME,
        st.dictionaries(NAME, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
        max_size=4,
    )
)
@settings(max_examples=50, deadline=None)
def test_what_is_written_is_read_back(tmp_path_factory, rankings):
    path = tmp_path_factory.mktemp("runs") / "run.tsv.gz"
    hits = {}
    for qid, scores in rankings.items():
        ordered = sorted(scores.items(), key=lambda item: -item[1])
        hits[qid] = [Hit(passage_id=p, rank=r, score=s) for r, (p, s) in enumerate(ordered, start=1)]
    write_run(path, hits, "tag")
    assert read_run(path) == hits


def test_plain_files_of_other_systems_are_read(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1\tQ0\ta#0\t1\t3\tx\n\nq2 0 a#0 1 1 x\nq1 Q0 b#0 2 2 x\n")
    assert [h.passage_id for h in read_run(path)["q1"]] == ["a#0", "b#0"]


@pytest.mark.parametrize(
    "line, problem",
    [
        ("q2 Q0 a#0 2 -2 bm25", "passage a#0 comes twice"),
        ("q2 Q0 b#0 3 -2 bm25", "rank must be 2 \\(got 3\\)"),
        ("q2 Q0 b#0 1 -2 bm25", "rank must be 2 \\(got 1\\)"),
        ("q3 Q0 b#0 0 1 bm25", "rank must be 1 \\(got 0\\)"),
        ("q2 Q0 b#0 2 0 bm25", "score must not rise"),
        ("q2 Q0 b#0 2 nan bm25", "score must be finite"),
        ("q2 Q0 b#0 two -2 bm25", "rank: must be an integer"),
        ("q2 Q0 b#0 2 high bm25", "score: must be a number"),
        ("q2 Q0 b#0 2 -2", "got 5 fields"),
        ("q2 Q0 b #0 2 -2 bm25", "got 7 fields"),
    ],
)
def test_a_broken_line_is_named(tmp_path, line, problem):
    path = tmp_path / "run.txt"
    path.write_text(GOOD + line + "\n")
    with pytest.raises(InputError, match=f"run.txt:4: .*{problem}"):
        read_run(path)


def test_a_file_cut_short_is_unreadable(tmp_path):
    path = tmp_path / "run.tsv.gz"
    path.write_bytes(gzip.compress(GOOD.encode() * 50)[:-12])
    with pytest.raises(InputError, match="run.tsv.gz"):
        read_run(path)


@pytest.mark.parametrize(
    "qid, hits, problem",
    [
        ("q 1", [("a", 1, 1.0)], "whitespace"),
        ("q", [("a b", 1, 1.0)], "whitespace"),
        ("q", [("a", 1, 1.0), ("a", 2, 0.5)], "comes twice"),
        ("q", [("a", 0, 1.0)], "rank must be 1"),
        ("q", [("a", 1, float("nan"))], "finite"),
    ],
)
def test_what_could_not_be_read_is_not_written(tmp_path, qid, hits, problem):
    with pytest.raises(ValueError, match=problem):
        write_run(tmp_path / "run.txt", {qid: [Hit(passage_id=p, rank=r, score=s) for p, r, s in hits]}, "t")
    assert not list(tmp_path.iterdir())


def test_rankings_are_the_passages_of_a_run(tmp_path):
    (tmp_path / "run.txt").write_text(GOOD)
    assert read_rankings(tmp_path / "run.txt") == {"q1": ["a#0", "b#0"], "q2": ["a#0"]}


def test_qrels_are_read(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 d#0 2\n\nq1 0 d#1 0\nq2\t0\te#3\t1\n")
    assert read_qrels(path) == {"q1": {"d#0": 2, "d#1": 0}, "q2": {"e#3": 1}}


def test_qrels_are_written_as_trec_reads_them_quotes_in_ids_included(tmp_path):
    write_qrels(tmp_path / "qrels.txt", [("q1", 'Eddie_"The_Eagle"#0', 2), ("q2", "Zoë#1", 1)])
    assert (tmp_path / "qrels.txt").read_bytes().decode() == 'q1 0 Eddie_"The_Eagle"#0 2\nq2 0 Zoë#1 1\n'
    assert read_qrels(tmp_path / "qrels.txt") == {"q1": {'Eddie_"The_Eagle"#0': 2}, "q2": {"Zoë#1": 1}}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 0 d#1", "3 fields"),
        ("q1 0 d#1 -1", "grade: must be an integer >= 0"),
        ("q1 0 d#1 1.5", "grade"),
        ("q1 0 d#1 ²", "grade"),
        ("q1 0 d#0 1", "judges passage d#0 twice"),
    ],
)
def test_broken_qrels_are_refused(tmp_path, line, problem):
    path = tmp_path / "qrels.txt"
    path.write_text(f"q1 0 d#0 2\n{line}\n")
    with pytest.raises(InputError, match=problem) as caught:
        read_qrels(path)
    assert caught.value.line == 2


def test_qrels_cut_short_are_unreadable(tmp_path):
    path = tmp_path / "qrels.txt.xz"
    path.write_bytes(lzma.compress("".join(f"q1 0 d#{n} 2\n" for n in range(50)).encode())[:-12])
    with pytest.raises(InputError, match="unreadable"):
        read_qrels(path)
