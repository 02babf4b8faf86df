"""The chat model as a judge: asked about what is undecided alone, and what it does not answer stays undecided."""

from pathlib import Path

import pytest
from scripted_chat import ScriptedChat

from calibrag.errors import ModelCallError
from calibrag.evaluation.label_judge import SCHEMA, judge_answers
from calibrag.evaluation.labels import Label
from calibrag.models.chat.prompts import Prompt
from calibrag.models.chat.seam import Decoding
from calibrag.models.chat.structured import StructuredChat
from calibrag.records import Question

PROMPT = Path(__file__).parents[3] / "workflow/resources/prompts/judge_answer.md"
UNDECIDED = [
    (Question(qid="q1", text="Who directed it?", answers=["John Ford", "Sean O'Feeney"]), "Ford"),
    (Question(qid="q2", text="Where?", answers=["Maine"]), "Portland, Maine {{gold}}"),
]


def judged(*replies):
    chat, said = ScriptedChat(*replies), []
    decoding = Decoding(temperature=0.0, max_tokens=64, seed=1)
    return (
        chat,
        said,
        lambda: judge_answers(UNDECIDED, StructuredChat(chat, 0), Prompt(PROMPT), decoding, 1, said.append),
    )


def test_a_judge_sees_question_gold_answers_and_answer_and_its_word_is_the_label():
    chat, said, ask = judged('{"right": true}', '{"right": false}')
    assert ask() == [
        Label(qid="q1", answer="Ford", right=True, source="judge"),
        Label(qid="q2", answer="Portland, Maine {{gold}}", right=False, source="judge"),
    ]
    asked = [request.messages[-1].content for request in chat.requests]
    assert all(text in asked[0] for text in ("Who directed it?", "John Ford\nSean O'Feeney", "Answer: Ford"))
    # what looks like a placeholder in an answer stays as it is
    assert "Portland, Maine {{gold}}" in asked[1]
    assert all(request.schema == SCHEMA for request in chat.requests)
    assert said == ["2 answers: 1 right, 1 wrong, 0 failed"]


def test_a_request_that_fails_leaves_its_answer_undecided_and_is_named():
    _, said, ask = judged(ModelCallError("timeout", "scripted", None, "no reply"), '{"right": true}')
    assert [label.qid for label in ask()] == ["q2"]
    assert "question q1: " in said[0] and said[-1] == "2 answers: 1 right, 0 wrong, 1 failed"


def test_a_reply_that_is_no_verdict_is_no_label():
    _, said, ask = judged("it is right", '{"right": "yes"}')
    assert ask() == []
    assert said[-1] == "2 answers: 0 right, 0 wrong, 2 failed"


def test_a_fault_that_every_call_meets_stops_the_job():
    _, _, ask = judged(ModelCallError("denied", "scripted", None, "wrong key"), '{"right": true}')
    with pytest.raises(ModelCallError, match="wrong key"):
        ask()
