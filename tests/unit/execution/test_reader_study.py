"""What the reader chose, alone and inside a pass."""

from calibrag.execution.reader_study import gold_context, read_alone, read_in_pass
from calibrag.models.answer_reader import ScoredAnswer
from calibrag.records import Passage, Question
from calibrag.trace import ModelEvent, Trace, Usage


class Store(dict):
    """A fake: passages by id."""


def passage(pid, text):
    return Passage(
        passage_id=pid, doc_id=pid, title=pid, heading=None, kind="text", ordinal=0, start=0, end=9, text=text
    )


class Reader:
    """A fake: every sentence is a candidate, the last the most probable."""

    def read(self, question, sentences):
        shares = [(i + 1) / 10 for i in range(len(sentences))]
        return [ScoredAnswer(text, p, (i,)) for i, ((_, text), p) in enumerate(zip(sentences, shares, strict=True))], 5


def trace(qid, *calls):
    events = [
        ModelEvent(turn=1, model="m", purpose="p", tokens=1, candidates=list(c), probabilities=list(p))
        for c, p in calls
    ]
    return Trace(
        collection="c",
        system="s",
        qid=qid,
        pass_number=1,
        excluded=[],
        events=events,
        nuggets=[],
        submissions=[],
        retrieved={},
        answer=None,
        confidence=None,
        confidence_rule="r",
        stop_reason="no_call",
        status="ok",
        usage=Usage(),
    )


def test_gold_context_holds_the_sentences_of_relevant_passages_only():
    store = Store(a=passage("a", "One. Two."), b=passage("b", "Three."))
    assert gold_context({"a": 2, "b": 0}, store) == [("a", "One."), ("a", "Two.")]


def test_reader_alone_takes_the_most_probable_candidate():
    questions = [Question(qid=q, text="?", answers=["x"]) for q in ("q", "r")]
    table = read_alone(questions, {"q": [("t", "One."), ("t", "Two.")]}, Reader())
    assert table["answer"].dropna().to_dict() == {0: "Two."}
    assert table["candidates"].tolist() == [["One.", "Two."], []]


def test_in_a_pass_the_last_reading_counts():
    traces = [trace("q", (["a", "b"], [0.9, 0.1]), (["b", "c"], [0.3, 0.7])), trace("r")]
    table = read_in_pass(traces)
    assert table["answer"].dropna().to_dict() == {0: "c"}
    assert table["candidates"].tolist() == [["b", "c"], []]
