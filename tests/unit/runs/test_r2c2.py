"""R2C2 run files: what is written is read back, and a validator names every break by line and rule."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.command import main
from calibrag.errors import CalibragError, InputError
from calibrag.records import Question
from calibrag.runs import r2c2
from calibrag.runs.r2c2 import AnswerBlock, CitedNugget
from calibrag.runs.r2c2_validation import check_run

TOPICS = """<?xml version="1.0" encoding="UTF-8"?>
<question><qID>0001</qID><q>Who directed Alien &amp; Legend?</q></question>
<question><qID>0002</qID><q>When?</q></question>
"""
PASSAGES = """0001;1;d1;Alien is a film; it was directed by Ridley Scott.
0001;2;d2;Legend.
0002;1;d1;Alien is a film.
"""
ANSWERS = """<D0001>
Ridley Scott; the director;80
1;TEAM-PG-1;1;directed by Ridley Scott; in 1979
2;TEAM-PG-1;2;Legend
</D0001>
<D0002>1979;5
</D0002>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.xml").write_text(TOPICS)
    (tmp_path / "TEAM-PG-1.txt").write_text(PASSAGES)
    (tmp_path / "TEAM-AC-1.txt").write_text(ANSWERS)
    return tmp_path


def check(folder, text, name):
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)
    checked = check_run(folder / name, r2c2.read_topics(folder / "topics.xml"), [folder / "TEAM-PG-1.txt"])
    return [(violation.line, violation.rule) for violation in checked.violations]


def test_runs_without_a_fault_have_no_violation_and_are_read(folder):
    assert check(folder, PASSAGES, "TEAM-PG-1.txt") == []
    assert check(folder, ANSWERS, "TEAM-AC-1.txt") == []
    assert r2c2.read_passages(folder / "TEAM-PG-1.txt") == {"0001": ["d1", "d2"], "0002": ["d1"]}
    first, second = r2c2.read_answers(folder / "TEAM-AC-1.txt")
    # an answer is split at its last semicolon, a nugget at the first three
    assert (first.qid, first.answer, first.confidence) == ("0001", "Ridley Scott; the director", 80)
    assert [(n.passage_run, n.rank, n.text) for n in first.nuggets] == [
        ("TEAM-PG-1", 1, "directed by Ridley Scott; in 1979"),
        ("TEAM-PG-1", 2, "Legend"),
    ]
    # this answer stands on the tag's own line
    assert (second.qid, second.answer, second.confidence, second.nuggets) == ("0002", "1979", 5, [])


BROKEN_PASSAGES = {
    "a field too few": ("0001;1;d1\n0002;1;d1;x\n", [(1, "fields")]),
    "an unknown topic": ("0003;1;d1;x\n", [(1, "topic-unknown")]),
    "ranks out of range": ("0001;0;d1;x\n0001;21;d2;x\n0002;one;d3;x\n", [(n, "rank-range") for n in (1, 2, 3)]),
    "a rank twice": ("0001;1;d1;x\n0001;1;d2;x\n", [(2, "rank-repeated")]),
    "a gap": ("0001;1;d1;x\n0001;3;d2;x\n", [(2, "rank-gap")]),
    "a passage twice": ("0001;1;d1;x\n0001;2;d1;x\n", [(2, "docid-repeated")]),
    "empty fields": ("0001;1;;x\n0001;2;d1; \n", [(1, "docid-empty"), (2, "text-empty")]),
    "a tab and a carriage return": ("0001;1;d1;a\tb\r\n", [(1, "control-character")]),
    "no UTF-8": (b"0001;1;d1;caf\xe9\n", [(1, "encoding")]),
    "a byte order mark": (b"\xef\xbb\xbf0001;1;d1;x\n", [(1, "encoding")]),
    "nothing": ("\n \n", [(0, "empty")]),
    "several at once": (
        "0003;1;d1;x\n0001;1;d1;x\n0001;1;d2;x\nx\n",
        [(1, "topic-unknown"), (3, "rank-repeated"), (4, "fields")],
    ),
}


@pytest.mark.parametrize(("text", "found"), BROKEN_PASSAGES.values(), ids=BROKEN_PASSAGES)
def test_every_break_of_a_passage_run_is_listed(folder, text, found):
    assert check(folder, text, "TEAM-PG-2.txt") == found


def test_a_passage_run_of_another_name_is_listed(folder):
    assert check(folder, PASSAGES, "mine.txt") == [(0, "run-name")]


BROKEN_ANSWERS = {
    "an unclosed block at the end": ("<D0001>\nx;5\n", [(1, "block-unclosed")]),
    "an unclosed block before another": ("<D0001>\nx;5\n<D0002>\ny;5\n</D0002>\n", [(1, "block-unclosed")]),
    "another block closed": ("<D0001>\nx;5\n</D0002>\n", [(3, "block-mismatch")]),
    "a block closed that was not open": ("<D0001>\nx;5\n</D0001>\n</D0001>\n", [(4, "block-unopened")]),
    "a line before the first block": ("hello\n<D0001>\nx;5\n</D0001>\n", [(1, "outside-block")]),
    "lines outside blocks": ("<D0001>\nx;5\n</D0001>\ny;6\n", [(4, "outside-block")]),
    "no answer": ("<D0001>\n</D0001>\n", [(1, "answer-missing")]),
    "no confidence": ("<D0001>\nRidley Scott\n</D0001>\n", [(2, "answer-fields")]),
    "confidences that are none": (
        "<D0001>\nx;101\n</D0001>\n<D0002>\ny;0.5\n</D0002>\n",
        [(2, "confidence"), (5, "confidence")],
    ),
    "an unknown topic": ("<D0009>\nx;5\n</D0009>\n", [(1, "topic-unknown")]),
    "a topic twice": ("<D0001>\nx;5\n</D0001>\n<D0001>\nx;5\n</D0001>\n", [(4, "topic-repeated")]),
    "a nugget of an unknown run": ("<D0001>\nx;5\n1;TEAM-PG-9;1;y\n</D0001>\n", [(3, "nugget-run")]),
    "a nugget of a passage that the run does not hold": (
        "<D0002>\nx;5\n1;TEAM-PG-1;2;y\n</D0002>\n",
        [(3, "nugget-passage")],
    ),
    "nuggets of which parts are wrong": (
        "<D0001>\nx;5\n2;TEAM-PG-1;1;y\n2;TEAM-PG-1;x;y\n3;TEAM-PG-1;1; \n4;TEAM-PG-1\n</D0001>\n",
        [(3, "nugget-number"), (4, "nugget-rank"), (5, "nugget-empty"), (6, "nugget-fields")],
    ),
}


@pytest.mark.parametrize(("text", "found"), BROKEN_ANSWERS.values(), ids=BROKEN_ANSWERS)
def test_every_break_of_an_answer_run_is_listed(folder, text, found):
    assert check(folder, text, "TEAM-AC-2.txt") == found


def test_nuggets_are_not_held_against_passage_runs_that_are_not_given_and_the_notes_say_so(folder):
    checked = check_run(folder / "TEAM-AC-1.txt", ["0001", "0002", "0003"], [])
    assert checked.violations == []
    assert checked.notes == [
        "topics read: 2, nuggets: 2",
        "of the 3 topics 1 are not among those read",
        "whether the passages that nuggets cite are held was not checked: no --pr-runs",
    ]


def test_the_command_lists_violations_with_file_and_line_and_tells_by_its_exit_code(folder, capsys):
    topics, cited = ["--topics", str(folder / "topics.xml")], ["--pr-runs", str(folder / "TEAM-PG-1.txt")]
    assert main(["validate-run", str(folder / "TEAM-AC-1.txt"), *topics, *cited]) == 0
    assert capsys.readouterr().out.endswith("TEAM-AC-1.txt: a run of answers, 0 violations\n")
    (folder / "TEAM-AC-2.txt").write_text("<D0001>\nx;500\n1;TEAM-PG-1;9;y\n")
    assert main(["validate-run", str(folder / "TEAM-AC-2.txt"), *topics, *cited]) == 1
    path = folder / "TEAM-AC-2.txt"
    assert capsys.readouterr().out.splitlines() == [
        f"{path}:1: block-unclosed: <D0001> must be closed by </D0001> (the file ends)",
        f"{path}:2: confidence: must be a whole number from 0 to 100 (got '500')",
        "note: topics read: 0, nuggets: 0",
        "note: of the 2 topics 2 are not among those read",
        f"{path}: a run of answers, 2 violations",
    ]
    assert main(["validate-run", str(folder / "none.txt"), *topics]) == 2
    done = subprocess.run([sys.executable, "-m", "calibrag", "validate-run", "x"], capture_output=True, text=True)
    assert done.returncode == 2 and "--topics" in done.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<question><qID>1</qID>", "no well-formed XML"),
        ("<question><q>x</q></question>", "missing or blank"),
        ("<topic/>", "must hold <question> elements"),
        ("<question><qID>1</qID><q>x</q></question>" * 2, "once"),
    ],
)
def test_topics_that_break_their_format_are_refused(tmp_path, text, problem):
    (tmp_path / "topics.xml").write_text(text)
    with pytest.raises(InputError, match=problem):
        r2c2.read_topics(tmp_path / "topics.xml")


def test_a_run_that_is_to_be_scored_is_refused_by_its_first_break(folder):
    (folder / "TEAM-PG-2.txt").write_text("0001;1;d1;x\n0001;1;d2;x\nx\n")
    with pytest.raises(InputError, match=r"TEAM-PG-2.txt:2: rank-repeated: .*; 1 more, which calibrag validate-run"):
        r2c2.read_passages(folder / "TEAM-PG-2.txt")


# --- what is written is read back -----------------------------------------------------------------

ids = st.text("abcXYZ019_.#-", min_size=1, max_size=6)
# a line break in a field becomes a space, and spaces at its ends are not kept
fields = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20).map(str.strip)
texts = fields.filter(bool)
passages = st.dictionaries(ids, st.lists(st.tuples(ids, texts), unique_by=lambda one: one[0], min_size=1, max_size=20))
nuggets = st.lists(st.tuples(ids, st.integers(1, 20), texts), max_size=3)
blocks = st.dictionaries(ids, st.tuples(st.none() | texts, st.integers(0, 100), nuggets))


@settings(max_examples=60, deadline=None)
@given(passages)
def test_passage_runs_are_read_back(tmp_path_factory, rankings):
    path = tmp_path_factory.mktemp("r2c2") / "TEAM-PG-1.txt"
    r2c2.write_passages(path, rankings)
    if rankings:
        assert r2c2.read_passages(path) == {qid: [one for one, _ in ranked] for qid, ranked in rankings.items()}
        assert check_run(path, rankings, []).violations == []


@settings(max_examples=60, deadline=None)
@given(blocks)
def test_answer_runs_are_read_back(tmp_path_factory, answers):
    path = tmp_path_factory.mktemp("r2c2") / "TEAM-AC-1.txt"
    given = [
        AnswerBlock(0, qid, answer, confidence, [CitedNugget(0, *nugget) for nugget in cited])
        for qid, (answer, confidence, cited) in answers.items()
    ]
    r2c2.write_answers(path, given)
    if given:
        read = r2c2.read_answers(path)
        bare = [block._replace(line=0, nuggets=[nugget._replace(line=0) for nugget in block.nuggets]) for block in read]
        assert bare == given


def test_line_breaks_in_fields_become_spaces_and_topics_are_read_back(tmp_path):
    r2c2.write_passages(tmp_path / "T-PG-1.txt", {"q": [("d", "a\r\nb\tc")]})
    assert (tmp_path / "T-PG-1.txt").read_bytes() == b"q;1;d;a  b c\n"
    asked = [Question(qid="q1", text='a < b & "c"', answers=["x"]), Question(qid="q2", text="\x0bz", answers=["x"])]
    r2c2.write_topics(tmp_path / "topics.xml", asked)
    assert r2c2.read_topics(tmp_path / "topics.xml") == ["q1", "q2"]


def test_ids_and_lengths_that_the_format_cannot_hold_are_refused(tmp_path):
    for qid, passages in (("a;b", [("d", "x")]), ("q", [("d e", "x")]), ("q", [(f"d{n}", "x") for n in range(21)])):
        with pytest.raises(CalibragError, match="R2C2 takes"):
            r2c2.write_passages(tmp_path / "T-PG-1.txt", {qid: passages})
    assert list(Path(tmp_path).iterdir()) == []


@pytest.mark.parametrize(("confidence", "whole"), [(0, 0), (0.004, 0), (0.005, 1), (0.5, 50), (0.996, 100), (1, 100)])
def test_confidence_is_filed_as_a_whole_number_halves_up(confidence, whole):
    assert r2c2.percent(confidence) == whole
