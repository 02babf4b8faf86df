"""Runs of others: what kind a file is, and that a broken one is refused by line."""

import pytest

from calibrag.errors import InputError
from calibrag.runs.external import read_external_answers, read_external_passages

ANSWERS = "<D0001>\nRidley Scott;80\n1;X-PG-1;1;a nugget\n</D0001>\n<D0002>\n;0\n</D0002>\n"
FILES = {
    "X-AC-1.txt": ANSWERS,
    "X-PG-1.txt": "0001;1;d1;text\n0001;2;d2;text\n",
    "bm25.txt": "0001 Q0 d2 1 9.5 bm25\n0001 Q0 d1 2 8.5 bm25\n",
}
QIDS = {"0001", "0002"}


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in FILES]


def test_a_file_is_a_run_of_answers_or_of_passages_by_what_stands_in_it(files):
    entries = read_external_answers(files, QIDS)
    assert [(entry.run, entry.qid, entry.answer, entry.confidence) for entry in entries] == [
        ("X-AC-1", "0001", "Ridley Scott", 0.8),
        ("X-AC-1", "0002", None, 0.0),
    ]
    # nobody verified their nuggets
    assert all(entry.nuggets == [] for entry in entries)
    assert read_external_passages(files, QIDS) == {"X-PG-1": {"0001": ["d1", "d2"]}, "bm25": {"0001": ["d2", "d1"]}}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("X-AC-1.txt", ANSWERS.replace("80", "eighty"), r"X-AC-1.txt:2: confidence"),
        ("X-AC-1.txt", ANSWERS + "<D0001>\nx;1\n</D0001>\n", r"X-AC-1.txt:8: topic 0001 comes twice"),
        ("X-AC-1.txt", ANSWERS.replace("D0002", "D0009"), r"X-AC-1.txt:5: topic 0009 is none of the collection's"),
        ("X-PG-1.txt", "0001;3;d1;text\n", r"X-PG-1.txt:1: rank-gap"),
        ("X-PG-1.txt", "0009;1;d1;text\n", r"X-PG-1.txt: topic 0009 is none"),
        ("bm25.txt", "0001 Q0 d1 2 8.5 bm25\n", r"bm25.txt:1: rank"),
    ],
)
def test_a_broken_run_stops_the_job(files, name, text, problem):
    (files[0].parent / name).write_text(text)
    with pytest.raises(InputError, match=problem):
        read_external_answers(files, QIDS), read_external_passages(files, QIDS)
