"""What pages show of traces: verdicts, filters, the numbers below a confidence, and safe names of files."""

import re

import pytest
from gold_labels import gold_labels
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from traced_questions import PASSAGES, QRELS, QUESTIONS, RIGHT, RUNS, TRACES, gate, question, short, trace

from calibrag.reporting.trace_views import file_name, ground, summarise, view_passages, view_question
from calibrag.trace import AnswerEvent

FILED = {run: {entry.qid: entry for entry in entries} for run, entries in RUNS.items()}
VIEWS = {
    one.qid: view_question(one, TRACES.get(one.qid, ()), {run: FILED[run].get(one.qid) for run in FILED}, RIGHT)
    for one in QUESTIONS
}


def shown(asked, passes):
    return view_question(asked, passes, {}, gold_labels([asked], {asked.qid: passes}).right)


@pytest.mark.parametrize(
    ("qid", "kinds"),
    [
        ("q-right", ["right", "disagree"]),
        ("q-wrong", ["wrong"]),
        ("q-refused", ["refused"]),
        ("q-failed", ["missing", "errors"]),
        ("q-limit", ["refused"]),
        ("q-none", ["missing"]),
    ],
)
def test_a_question_is_shown_by_the_filters_that_its_filed_answer_and_its_passes_belong_to(qid, kinds):
    assert VIEWS[qid].kinds == kinds


def test_passes_have_a_verdict_each():
    assert [shown.verdict for shown in VIEWS["q-right"].passes] == ["right", "wrong", "right", "skipped"]
    assert [shown.verdict for shown in VIEWS["q-refused"].passes] == ["refused"]
    assert [shown.verdict for shown in VIEWS["q-limit"].passes] == ["none"]
    assert [shown.verdict for shown in VIEWS["q-failed"].passes] == ["error"]


@pytest.mark.parametrize(
    ("answers", "disagree"),
    [(["two", "2"], False), (["The Who", "who"], False), (["2", "3"], True), (["2", None], False), ([None], False)],
)
def test_passes_disagree_where_their_normalised_answers_differ_and_a_refusal_is_no_answer(answers, disagree):
    passes = [short("q", answer, 0.5, number) for number, answer in enumerate(answers, start=1)]
    assert shown(question("q", "How many?", "2"), passes).disagree is disagree


def test_a_question_without_support_has_no_right_answer_and_one_that_wants_a_set_only_a_whole_one():
    bare = replace(question("q", "Who?", "Ford"), supported=False)
    assert shown(bare, [short("q", "Ford", 0.5)]).passes[0].verdict == "wrong"
    wanted = replace(question("q", "Who?", "Ford", "Hawks"), answer_kind="set")
    passes = [short("q", "Hawks and Ford", 0.5), short("q", "Ford", 0.5, 2)]
    assert [one.verdict for one in shown(wanted, passes).passes] == ["right", "wrong"]


def test_what_is_filed_is_what_the_answer_runs_file():
    first, best = VIEWS["q-wrong"].filed
    assert (first.run, first.entry.answer, first.entry.confidence) == ("AC-1", "Ireland", 0.48)
    assert (best.run, best.entry.answer, best.entry.confidence) == ("AC-2", "ireland", 0.52)


def test_the_ruling_shown_is_the_last_one_and_its_numbers_are_sorted_by_nugget():
    shown = VIEWS["q-right"].passes[0]
    assert shown.gate.confidence == 0.62
    assert shown.ground.columns == ["entailment", "overlap", "evidence"]
    assert shown.ground.nuggets == {"n2": {"entailment": 0.91, "overlap": 1.0, "evidence": 0.91}}
    assert list(shown.ground.rest) == ["support", "share of full evidence", "discount for answers turned back"]


def test_a_refusal_shows_the_numbers_of_the_answer_that_was_turned_back_before_it():
    events = [AnswerEvent(turn=1, text="X", passage_ids=[]), gate(1, 0.1, "evidence", numbers={"support": 0.1})]
    events += [AnswerEvent(turn=2, text=None, passage_ids=[]), gate(2, 0.0, answered=False)]
    [only] = shown(question("q", "?", "X"), [trace("q", events=events, confidence=0.0)]).passes
    assert (only.verdict, only.gate.accepted, only.ground.rest) == ("refused", False, {"support": 0.1})


@given(st.dictionaries(st.sampled_from(["n1", "n1 a", "n1 a b", "n2 a", "n10 a", "a", " a", "n1 "]), st.floats(0, 1)))
def test_no_number_of_a_confidence_gets_lost(numbers):
    parted = ground(numbers, ["n1", "n2"])
    rows = {f"{owner} {name}": value for owner, row in parted.nuggets.items() for name, value in row.items()}
    assert rows | parted.rest == numbers
    assert all(name.startswith(("n1 ", "n2 ")) for name in rows)


def test_an_exclusion_says_which_pass_recorded_the_passage():
    assert VIEWS["q-right"].passes[2].excluded == {"Gone#4": [], "Quiet_Man#0": [1], "Wayne#0": [1]}


def test_only_passages_that_the_traces_mention_are_looked_up_and_a_missing_one_is_known_as_such():
    shown = view_passages(VIEWS["q-right"], PASSAGES, QRELS["q-right"])
    assert set(shown) == {"Quiet_Man#0", "Quiet_Man#1", "Ford#0", "Wayne#0", "Long#0", "Gone#4"}
    assert [one.number for one in shown.values()] == [1, 2, 3, 4, 5, 6]
    assert shown["Gone#4"].passage is None
    assert (shown["Quiet_Man#0"].grade, shown["Wayne#0"].grade, shown["Long#0"].grade) == (2, 0, None)
    assert shown["Quiet_Man#0"].quotes == ["a film by John Huston", "directed and produced by John Ford", "John Ford"]


def test_the_summary_counts_passes_that_failed_and_passes_that_were_not_run():
    summary = summarise("film", "bitem", list(VIEWS.values()))
    assert (summary.n, summary.n_error, summary.n_skipped) == (len(QUESTIONS), 1, 1)
    assert summary.passes == sum(map(len, TRACES.values()))
    assert summary.counts["all"] == len(QUESTIONS)
    assert (summary.counts["wrong"], summary.counts["missing"], summary.counts["errors"]) == (1, 2, 1)
    assert summary.models == {"reader": ["package:small/reader.gguf"], "verifier": ["adapters/verifier"]}
    assert summary.releases == ["0.4.0"]


def test_traces_of_unknown_origin_are_summed_up_without_models():
    view = shown(question("q", "?", "a"), [trace("q", provenance=None)])
    assert summarise("c", "s", [view]).releases == []


@given(st.text(st.characters(codec=None), max_size=200))
def test_a_page_has_a_name_that_is_safe_everywhere(qid):
    assert re.fullmatch(r"[a-z0-9_~-]{1,90}\.html", file_name(qid))
    assert file_name(qid) == file_name(qid)


@given(st.lists(st.text(max_size=4), unique=True, max_size=30))
def test_no_two_questions_share_a_page_even_where_case_does_not_count(qids):
    assert len({file_name(qid).casefold() for qid in qids}) == len(qids)


@pytest.mark.parametrize(
    "qid", ["", ".", "..", "../../etc/passwd", "a/b", "A", "con", "x~0123456789abcdef", "é", "a b"]
)
def test_a_name_that_would_do_harm_or_clash_gets_a_hash(qid):
    assert "~" in file_name(qid)
    assert file_name("8b86e8f09f1f6986") == "8b86e8f09f1f6986.html"
