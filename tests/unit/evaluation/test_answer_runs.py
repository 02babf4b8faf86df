"""Answer runs: every question gets its row, and no refusal, fault or gap is averaged away."""

import numpy as np
import pytest

from calibrag.errors import CalibragError
from calibrag.evaluation.answer_runs import COLUMNS, score_answer_run
from calibrag.records import Question
from calibrag.trace import RunEntry


def question(qid, *answers, **fields):
    return Question(qid=qid, text="?", answers=list(answers), **fields)


def entry(qid, answer, confidence):
    return RunEntry(
        run="AC-1", qid=qid, answer=answer, confidence=confidence, nuggets=[], passage_run="PG-1", origin="pass-1"
    )


QUESTIONS = [question("q1", "12"), question("q2", "yes"), question("q3", "Rome"), question("q4", "Rio")]
ENTRIES = [entry("q3", None, 0.1), entry("q1", "twelve", 0.8), entry("q2", "no", 0.4)]
ERRORS = {"q4": "endpoint: 500"}


def test_rows_follow_the_questions():
    frame = score_answer_run(ENTRIES, QUESTIONS, ERRORS)
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["qid"]) == ["q1", "q2", "q3", "q4"]
    assert list(frame["right"]) == [True, False, False, False]
    assert list(frame["em"]) == [0, 0, 0, 0]  # officially "twelve" is not "12"
    assert list(frame["refused"]) == [False, False, True, False]
    assert list(frame["missing"]) == [False, False, False, True]
    assert list(frame["answer"]) == ["twelve", "no", None, None]
    assert list(frame["error"]) == [None, None, None, "endpoint: 500"]
    assert np.isnan(frame["confidence"][3]) and frame["confidence"][2] == 0.1


@pytest.mark.parametrize(
    ("entries", "questions", "errors", "problem"),
    [
        ([entry("q1", "a", 0.1)] * 2, QUESTIONS, {}, "answer a question once"),
        ([entry("q9", "a", 0.1)], QUESTIONS, {}, "such as q9"),
        ([], QUESTIONS, {"q9": "x"}, "such as q9"),
        ([], [question("s", "a", "b", answer_kind="set")], {}, "single"),
        ([], [question("s")], {}, "gold answer"),
    ],
)
def test_runs_that_do_not_fit_the_questions_are_refused(entries, questions, errors, problem):
    with pytest.raises(CalibragError, match=problem):
        score_answer_run(entries, questions, errors)
