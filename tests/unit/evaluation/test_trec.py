"""TREC files in: order by rank, and each broken line named."""

import gzip

import pytest

from calibrag.errors import InputError
from calibrag.evaluation.trec import read_qrels, read_rankings


def test_qrels_are_read(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 d#0 2\n\nq1 0 d#1 0\nq2\t0\te#3\t1\n")
    assert read_qrels(path) == {"q1": {"d#0": 2, "d#1": 0}, "q2": {"e#3": 1}}


def test_rankings_follow_the_rank_and_not_the_score(tmp_path):
    path = tmp_path / "run.tsv.gz"
    with gzip.open(path, "wt") as out:
        out.write("q1 Q0 b 2 9.0 x\nq1\tQ0\ta\t1\t0.1\tx\nq2 Q0 a 1 1 x\n")
    assert read_rankings(path) == {"q1": ["a", "b"], "q2": ["a"]}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 0 d#1", "3 fields"),
        ("q1 0 d#1 -1", "grade: must be an integer >= 0"),
        ("q1 0 d#1 1.5", "grade"),
        ("q1 0 d#0 1", "judges passage d#0 twice"),
    ],
)
def test_broken_qrels_are_refused(tmp_path, line, problem):
    path = tmp_path / "qrels.txt"
    path.write_text(f"q1 0 d#0 2\n{line}\n")
    with pytest.raises(InputError, match=problem) as caught:
        read_qrels(path)
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q1 Q0 b 2 1.0", "5 fields"),
        ("q1 Q0 b 0 1.0 x", "rank: must be an integer >= 1"),
        ("q1 Q0 b first 1.0 x", "rank"),
        ("q1 Q0 b 1 1.0 x", "rank 1 twice"),
        ("q1 Q0 a 2 1.0 x", "passage a twice"),
    ],
)
def test_broken_runs_are_refused(tmp_path, line, problem):
    path = tmp_path / "run.txt"
    path.write_text(f"q1 Q0 a 1 2.0 x\n{line}\n")
    with pytest.raises(InputError, match=problem) as caught:
        read_rankings(path)
    assert caught.value.line == 2
