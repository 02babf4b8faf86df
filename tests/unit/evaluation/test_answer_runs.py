"""Answer runs: every question gets its row, and no refusal, fault or gap is averaged away."""

import numpy as np
import pytest
from gold_labels import gold_labels
from msgspec.structs import replace

from calibrag.errors import CalibragError
from calibrag.evaluation.answer_runs import COLUMNS, score_answer_run
from calibrag.records import Question
from calibrag.trace import Nugget, RunEntry


def question(qid, *answers, **fields):
    return Question(qid=qid, text="?", answers=list(answers), **fields)


def entry(qid, answer, confidence):
    return RunEntry(
        run="AC-1", qid=qid, answer=answer, confidence=confidence, nuggets=[], passage_run="PG-1", origin="pass-1"
    )


def scored(entries, questions, errors, *qrels):
    return score_answer_run(entries, questions, errors, gold_labels(questions, entries=entries), *qrels)


QUESTIONS = [question("q1", "12"), question("q2", "yes"), question("q3", "Rome"), question("q4", "Rio")]
ENTRIES = [entry("q3", None, 0.1), entry("q1", "twelve", 0.8), entry("q2", "no", 0.4)]
ERRORS = {"q4": "endpoint: 500"}


def test_rows_follow_the_questions():
    frame = scored(ENTRIES, QUESTIONS, ERRORS)
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["qid"]) == ["q1", "q2", "q3", "q4"]
    assert list(frame["right"]) == [True, False, False, False]
    assert list(frame["em"]) == [0, 0, 0, 0]  # officially "twelve" is not "12"
    assert list(frame["refused"]) == [False, False, True, False]
    assert list(frame["missing"]) == [False, False, False, True]
    assert list(frame["answer"]) == ["twelve", "no", None, None]
    assert list(frame["error"]) == [None, None, None, "endpoint: 500"]
    assert np.isnan(frame["confidence"][3]) and frame["confidence"][2] == 0.1


def test_rows_tell_type_and_where_the_judgement_comes_from():
    frame = scored(ENTRIES, [question("q1", "12", type="set"), *QUESTIONS[1:]], {})
    assert list(frame["type"]) == ["set", None, None, None]
    # nothing is judged where the run refuses or lacks the question
    assert list(frame["label"]) == ["match", "match", None, None]


def test_a_set_is_right_where_it_names_all_members_and_nothing_else():
    asked = [question(qid, "Rome", "Rio", "Trinidad and Tobago", answer_kind="set") for qid in ("a", "b", "c", "d")]
    given = ["Rio; Trinidad and Tobago and Rome", "Rome, Rio", "Rome, Rio, Trinidad and Tobago, Oslo", None]
    entries = [entry(one.qid, text, 0.5) for one, text in zip(asked, given, strict=True)]
    frame = scored(entries, asked, {})
    assert list(frame["right"]) == [True, False, False, False]
    assert list(frame["em"]) == [1, 0, 0, 0]
    # two of two, of three: P 1, R 2/3; three of four, of three: P 3/4, R 1
    assert list(frame["f1"]) == pytest.approx([1, 0.8, 6 / 7, 0])
    # the same text to a question that wants one of them
    assert not scored(entries[:1], [question("a", "Rome", "Rio")], {})["right"][0]


def nugget(passage_id, verified=True, retracted=False):
    return Nugget(
        nugget_id="n", passage_id=passage_id, quotes=[], claim="c", entailment=0.9, verified=verified,
        retracted=retracted,
    )  # fmt: skip


def test_nugget_precision_counts_verified_nuggets_on_relevant_passages():
    # two of five: one passage is graded 0, one is not judged, one nugget is not entailed
    nuggets = [nugget("a"), nugget("b"), nugget("zero"), nugget("unjudged"), nugget("a", verified=False)]
    entries = [replace(entry("q1", "12", 0.5), nuggets=nuggets), entry("q2", "yes", 0.5), entry("q3", None, 0.0)]
    qrels = {"q1": {"a": 1, "b": 2, "zero": 0}, "q3": {"a": 1}}
    frame = scored(entries, QUESTIONS, {}, qrels)
    assert list(frame["nuggets"]) == [5, 0, 0, 0]
    assert list(frame["nugget_precision"][:3]) == [0.4, 0.0, 0.0]
    # the run lacks q4
    assert np.isnan(frame["nugget_precision"][3])
    assert scored(entries, QUESTIONS, {})["nugget_precision"].isna().all()


def test_a_retracted_nugget_is_not_relevant():
    entries = [replace(entry("q1", "12", 0.5), nuggets=[nugget("a"), nugget("a", retracted=True)])]
    assert scored(entries, QUESTIONS, {}, {"q1": {"a": 1}})["nugget_precision"][0] == 0.5


def test_an_answer_to_a_question_without_support_is_wrong_and_its_nuggets_support_nothing():
    bare = question("u", "old gold", supported=False)
    made = replace(entry("u", "old gold", 0.9), nuggets=[nugget("a")])
    row = scored([made], [bare], {}, {}).iloc[0]
    assert (row["right"], row["em"], row["f1"], row["supported"], row["nugget_precision"]) == (False, 0, 0.0, False, 0)


@pytest.mark.parametrize(
    ("entries", "questions", "errors", "problem"),
    [
        ([entry("q1", "a", 0.1)] * 2, QUESTIONS, {}, "answer a question once"),
        ([entry("q9", "a", 0.1)], QUESTIONS, {}, "such as q9"),
        ([], QUESTIONS, {"q9": "x"}, "such as q9"),
        ([], [question("s")], {}, "gold answer"),
    ],
)
def test_runs_that_do_not_fit_the_questions_are_refused(entries, questions, errors, problem):
    with pytest.raises(CalibragError, match=problem):
        scored(entries, questions, errors)
