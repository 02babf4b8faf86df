"""Asking again: what the model is shown, what its words become, and what a second answer may cap."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from run_traces import nugget
from scripted_chat import ScriptedChat

from calibrag.errors import ModelCallError
from calibrag.models.answer_reader import ScoredAnswer
from calibrag.models.chat.prompts import Prompt
from calibrag.models.chat.seam import Decoding
from calibrag.models.chat.structured import StructuredChat
from calibrag.records import Passage, Question
from calibrag.runs.asking import Case, ChatAsker, Opinion, ReaderAsker, agreement, ask_again
from calibrag.runs.names import CAPPED, JUDGE
from calibrag.trace import RunEntry

PROMPTS = Path(__file__).parents[3] / "workflow/resources/prompts"
CAPS = {"same": 1.0, "near": 0.6, "other": 0.25}


def passage(passage_id, text="It was Ridley Scott. He made it."):
    place = dict(doc_id=passage_id, heading=None, kind="text", ordinal=0, start=0, end=1)
    return Passage(passage_id=passage_id, title=f"title {passage_id}", text=text, **place)


STORE = {one: passage(one) for one in ("a", "b", "c")}
RANKINGS = {"PG-2": {"q1": ["a", "b", "c"], "q2": ["c"]}}
QUESTIONS = {qid: Question(qid=qid, text=f"Who is {qid}?", answers=["x"]) for qid in ("q1", "q2", "q3")}


def entry(qid, answer, *nuggets):
    return RunEntry(
        run="four-pass",
        qid=qid,
        answer=answer,
        confidence=0.5,
        nuggets=list(nuggets),
        passage_run="PG-2",
        origin="pass-1",
    )


ENTRIES = [entry("q1", "Ridley Scott", replace(nugget("b"), quotes=["Scott made it", "it was he"])), entry("q2", None)]


def filed(opinions, entries=ENTRIES, passages=2):
    """Return run -> (answer, confidence) of each entry, and the cases that were asked about."""
    asked = []

    def ask(cases):
        asked.extend(cases)
        return opinions

    made = ask_again(entries, QUESTIONS, RANKINGS, STORE, ask, passages=passages, caps=CAPS)
    runs = {run: [(one.answer, one.confidence) for one in made if one.run == run] for run in (JUDGE, CAPPED)}
    return runs, asked


def test_the_model_sees_question_answer_nuggets_and_the_first_passages_filed():
    _, [case] = filed([Opinion(0.5, None)])
    assert (case.question, case.answer) == ("Who is q1?", "Ridley Scott")
    assert case.nuggets == [("title b", "Scott made it"), ("title b", "it was he")]
    assert [one.passage_id for one in case.passages] == ["a", "b"]


@pytest.mark.parametrize(
    ("second", "capped"), [("ridley scott", 0.9), ("Scott", 0.6), ("Tony Scott", 0.25), (None, 0.25)]
)
def test_the_judge_keeps_its_confidence_and_the_other_run_caps_it_by_the_second_answer(second, capped):
    runs, _ = filed([Opinion(0.9, second)])
    # a refusal is not asked about
    assert runs == {JUDGE: [("Ridley Scott", 0.9), (None, 0.0)], CAPPED: [("Ridley Scott", capped), (None, 0.0)]}


def test_a_cap_raises_nothing():
    runs, _ = filed([Opinion(0.1, "ridley scott")])
    assert runs[CAPPED][0] == ("Ridley Scott", 0.1)


def test_an_answer_of_which_the_model_could_not_be_asked_has_no_entry():
    runs, _ = filed([None])
    assert runs == {JUDGE: [(None, 0.0)], CAPPED: [(None, 0.0)]}


@pytest.mark.parametrize(
    ("one", "two", "how"),
    [("the 2", "two", "same"), ("Scott", "Ridley Scott", "near"), ("a b", "b c", "other"), ("?!", "x", "other")],
)
def test_how_answers_agree(one, two, how):
    assert agreement(one, two) == agreement(two, one) == how


# --- the reader ----------------------------------------------------------------------------------


class ScriptedReader:
    """Finds candidates by script, one list a call."""

    def __init__(self, *found):
        self.found = list(found)
        self.asked = []

    def read(self, question, sentences):
        self.asked.append((question, list(sentences)))
        return [ScoredAnswer(text, share, (0,)) for text, share in self.found.pop(0)], 1


CASE = Case("Who?", "Ridley Scott", [("t", "Scott made it")], [passage("a")])


def test_the_readers_confidence_is_the_share_of_the_answer_and_its_second_answer_comes_from_the_nuggets():
    reader = ScriptedReader(
        [("ridley scott", 0.5), ("The Ridley Scott", 0.2), ("He", 0.3)], [("He", 0.4), ("Scott", 0.6)]
    )
    assert ReaderAsker(reader, list)([CASE]) == [Opinion(pytest.approx(0.7), "Scott")]
    assert reader.asked == [
        ("Who?", [("title a", "It was Ridley Scott."), ("title a", "He made it.")]),
        ("Who?", [("t", "Scott made it")]),
    ]


def test_an_answer_that_the_reader_does_not_find_gets_0_and_nothing_is_read_where_nothing_was_filed():
    assert ReaderAsker(ScriptedReader([("He", 1.0)], []), list)([CASE]) == [Opinion(0.0, None)]
    assert ReaderAsker(ScriptedReader(), list)([CASE._replace(nuggets=[], passages=[])]) == [Opinion(0, None)]


# --- a chat model --------------------------------------------------------------------------------


def asking(*replies, retries=2):
    chat, said = ScriptedChat(*replies), []
    decoding = Decoding(temperature=0.0, max_tokens=64, seed=1)
    prompts = Prompt(PROMPTS / "judge_confidence.md"), Prompt(PROMPTS / "answer_from_nuggets.md")
    return chat, said, ChatAsker(StructuredChat(chat, 0), decoding, 1, *prompts, retries, said.append)


def test_a_chat_model_is_asked_for_its_confidence_with_citations_and_for_a_second_answer():
    chat, said, ask = asking('{"confidence": 80, "citations": [1]}', '{"answer": "Scott"}')
    assert ask([CASE]) == [Opinion(0.8, "Scott")]
    judge, again = (request.messages[-1].content for request in chat.requests)
    assert all(text in judge for text in ("Who?", "Ridley Scott", "- t: Scott made it", "[1] title a\nIt was Ridley"))
    # the second answer comes from the nuggets alone
    assert "- t: Scott made it" in again and "title a" not in again and "Answer: Ridley" not in again
    assert said == []


def test_a_citation_of_a_passage_that_is_not_filed_is_asked_for_again_and_then_dropped():
    odd = '{"confidence": 80, "citations": [1, 7]}'
    chat, said, ask = asking(odd, odd, '{"confidence": 60, "citations": []}', '{"answer": ""}')
    # an empty second answer is none
    assert ask([CASE]) == [Opinion(0.6, None)]
    assert [request.sample for request in chat.requests] == [0, 1, 2, 0] and said == []
    _, said, ask = asking(odd, odd, '{"answer": "x"}', retries=1)
    assert ask([CASE]) == [Opinion(0.8, "x")]
    assert said == ["1 citations of passages that are not filed were dropped"]


def test_a_second_answer_that_could_not_be_asked_for_costs_its_own_run_alone():
    failed = ModelCallError("timeout", "scripted", None, "no reply")
    _, _, ask = asking('{"confidence": 80, "citations": []}', failed)
    [opinion] = ask([CASE])
    assert opinion == Opinion(0.8, None, failed=True)
    runs, _ = filed([opinion])
    assert runs == {JUDGE: [("Ridley Scott", 0.8), (None, 0.0)], CAPPED: [(None, 0.0)]}


def test_a_request_that_fails_costs_its_answer_and_no_other():
    failed = ModelCallError("timeout", "scripted", None, "no reply")
    _, said, ask = asking(failed, '{"confidence": 5, "citations": []}', '{"answer": "x"}')
    assert ask([CASE, CASE._replace(question="What?")]) == [None, Opinion(0.05, "x")]
    assert said[0].startswith("'Who?': ")
    _, _, ask = asking(ModelCallError("denied", "scripted", None, "wrong key"))
    with pytest.raises(ModelCallError, match="wrong key"):
        ask([CASE])
