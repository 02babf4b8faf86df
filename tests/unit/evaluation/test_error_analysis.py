"""What went before answers, by hand."""

import msgspec
import pandas as pd
import pytest
from gold_labels import gold_labels

from calibrag.evaluation.error_analysis import COLUMNS, analyse_errors, count_errors
from calibrag.records import Hit, Question
from calibrag.trace import EntitySearchEvent, RunEntry, SearchEvent, Submission, Trace, Usage


def asked(qid, answer="Rome", **more):
    return Question(qid=qid, text="Which city?", answers=[answer], type="bridge", **more)


def entry(qid, answer, pass_number=1):
    return RunEntry(
        run="r", qid=qid, answer=answer, confidence=0.5, nuggets=[], passage_run="PG-2", origin="o",
        pass_number=pass_number,
    )  # fmt: skip


def a_pass(qid, number, *submitted, retrieved=(), status="ok", events=()):
    """Return a pass that submitted the texts given; one that ends in ``!`` was turned back."""
    submissions = [
        Submission(
            turn=turn,
            text=text.rstrip("!"),
            passage_ids=[],
            confidence=0.5,
            accepted=not text.endswith("!"),
            reasons=[],
        )
        for turn, text in enumerate(submitted, 1)
    ]
    final = submissions[-1] if submissions and submissions[-1].accepted else None
    return Trace(
        collection="c", system="s", qid=qid, pass_number=number, excluded=[], events=list(events), nuggets=[],
        submissions=submissions, retrieved=dict.fromkeys(retrieved, 1.0), answer=final.text if final else None,
        confidence=final.confidence if final else None, confidence_rule="r", stop_reason="accepted", status=status,
        usage=Usage(),
    )  # fmt: skip


def row(question, filed, passes, grades):
    traces, entries = {question.qid: passes}, [filed] if filed else []
    right = gold_labels([question], traces, entries).right
    frame = analyse_errors(entries, [question], traces, {question.qid: grades}, right)
    return frame.iloc[0].to_dict()


def test_a_wrong_answer_with_the_right_one_turned_back_elsewhere():
    passes = [a_pass("q", 1, "Oslo!", "Oslo", retrieved="ab"), a_pass("q", 2, "Rome!", "Bonn", retrieved="c")]
    assert row(asked("q"), entry("q", "Oslo"), passes, {"a": 1, "c": 1, "d": 2, "b": 0}) == {
        "qid": "q",
        "type": "bridge",
        "answer": "Oslo",
        "outcome": "wrong",
        "filing_pass": 1,
        "passes_run": 2,
        "failed_passes": 0,
        "needed": 3,
        "found_by_filing_pass": 1,
        "found_by_any_pass": 2,
        "right_in_another_pass": True,
        "right_turned_back": True,
        "turned_back_counted": True,
    }


def test_the_filing_pass_is_not_another_pass():
    found = row(asked("q"), entry("q", "Oslo"), [a_pass("q", 1, "Rome!", "Oslo")], {})
    # there is no other, which is not the same as others without a right answer
    assert found["right_in_another_pass"] is None
    assert found["right_turned_back"] is True
    two = [a_pass("q", 1, "Rome!", "Oslo"), a_pass("q", 2, "Oslo")]
    assert row(asked("q"), entry("q", "Oslo"), two, {})["right_in_another_pass"] is False
    assert found["turned_back_counted"] is False


def test_passages_met_by_name_or_beside_a_hit_were_found():
    events = [
        EntitySearchEvent(turn=1, name="n", hits=[Hit("a", 1, 1.0)], names=[]),
        SearchEvent(turn=2, query="q", hits=[Hit("b", 1, 1.0)], neighbours={"b": ["c"]}),
    ]
    found = row(asked("q"), entry("q", "Oslo"), [a_pass("q", 1, "Oslo", events=events)], {"a": 1, "c": 1, "d": 1})
    assert found["found_by_filing_pass"] == 2


@pytest.mark.parametrize(
    ("filed", "supported", "outcome"),
    [
        (entry("q", "Rome"), True, "right"),
        (entry("q", "Oslo"), True, "wrong"),
        (entry("q", None), True, "refused"),
        (entry("q", None), False, "right"),
        (entry("q", "Rome"), False, "wrong"),
        (None, True, "missing"),
    ],
)
def test_outcomes_where_the_corpus_supports_the_question_and_where_not(filed, supported, outcome):
    assert row(asked("q", supported=supported), filed, [a_pass("q", 1, "Rome")], {})["outcome"] == outcome


def test_a_refusal_of_no_pass_leaves_all_passes_the_others():
    found = row(asked("q"), entry("q", None, None), [a_pass("q", 1, "Rome!", retrieved="a")], {"a": 1})
    assert found["right_in_another_pass"] is True
    assert (found["found_by_filing_pass"], found["found_by_any_pass"]) == (None, 1)
    assert found["turned_back_counted"] is None


def test_nothing_follows_from_what_was_not_recorded():
    passes = [msgspec.structs.replace(a_pass("q", 1, "Oslo"), recorded=["reasoning"])]
    found = row(asked("q"), entry("q", "Oslo"), passes, {"a": 1})
    for name in ("found_by_filing_pass", "found_by_any_pass", "right_turned_back", "turned_back_counted"):
        assert found[name] is None, name


def test_a_skipped_pass_did_not_run_and_a_failed_one_is_counted():
    passes = [a_pass("q", 1, "Oslo"), a_pass("q", 2, status="error"), a_pass("q", 3, status="skipped")]
    found = row(asked("q"), entry("q", "Oslo"), passes, {})
    assert (found["passes_run"], found["failed_passes"], found["needed"]) == (2, 1, None)


def analysed():
    questions = [asked(qid) for qid in "abcd"]
    traces = {
        "a": [a_pass("a", 1, "Oslo", retrieved="xy"), a_pass("a", 2, "Rome")],
        "b": [a_pass("b", 1, "Oslo!", retrieved="x"), a_pass("b", 2, "Oslo", retrieved="y", status="error")],
        "c": [a_pass("c", 1, "Rome", retrieved="x")],
    }
    entries = [entry("a", "Oslo"), entry("b", "Oslo", 2), entry("c", "Rome")]
    qrels = {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 1}}
    return analyse_errors(entries, questions, traces, qrels, gold_labels(questions, traces, entries).right)


def test_counts_by_outcome():
    table = count_errors(analysed()).set_index("outcome")
    assert list(table.index) == ["right", "wrong", "missing"]
    assert table.loc["wrong"].to_dict() == {
        "n": 2,
        "n_error": 1,
        "n_judged": 2,
        "all_found_by_filing_pass": 1,
        "all_found": 2,
        "none_found": 0,
        "right_in_another_pass": 1,
        "right_turned_back": 0,
        "turned_back_counted": 1,
    }
    # nothing was judged for c: no passage is needed, which is not the same as none found
    assert table.loc["right", "n_judged"] == 0
    assert pd.isna(table.loc["right", "none_found"])


def test_counts_are_the_same_from_the_file(tmp_path):
    from calibrag.reporting.study import read_errors, summarise_errors

    rows = analysed().assign(collection="c", system="s")
    rows.to_csv(tmp_path / "errors.csv", index=False)
    read = read_errors(tmp_path / "errors.csv")
    assert set(COLUMNS) <= set(read.columns)
    assert summarise_errors([read])[count_errors(analysed()).columns].equals(count_errors(analysed()))
