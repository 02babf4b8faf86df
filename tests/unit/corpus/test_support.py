"""Gold support to judgements, by hand."""

import pytest

from calibrag.corpus.support import UnmatchedFact, holding, qrels
from calibrag.records import Passage, Question, Support


def passage(passage_id, text):
    doc_id, _, ordinal = passage_id.rpartition("#")
    return Passage(
        passage_id=passage_id,
        doc_id=doc_id,
        title=doc_id,
        heading=None,
        kind="text",
        ordinal=int(ordinal),
        start=0,
        end=len(text),
        text=text,
    )


PASSAGES = [
    passage("alien#0", "Alien is a 1979 film. It was directed by Ridley Scott."),
    passage("alien#1", "Actor | Role\nSigourney Weaver | Ripley\nJohn Hurt | Kane"),
    passage("hurt#0", "John Hurt was an English actor. He"),
    passage("hurt#1", "played Kane, the first victim, in 1979. He died in Cromer."),
    passage("other#0", "Ridley Scott was born in South Shields."),
]


def question(*support, qid="q1", supported=True):
    facts = [Support(doc_id=doc_id, quote=quote) for doc_id, quote in support]
    return Question(qid=qid, text="Who?", answers=["a"], support=facts, supported=supported)


def test_the_grade_counts_the_facts_that_a_passage_holds():
    asked = question(
        ("alien", "directed by Ridley Scott"), ("alien", "ALIEN is a 1979  film"), ("alien", "John Hurt | Kane")
    )
    assert qrels([asked], PASSAGES) == ([("q1", "alien#0", 2), ("q1", "alien#1", 1)], [])


def test_a_fact_counts_in_its_own_document_only():
    assert qrels([question(("alien", "Ridley Scott"))], PASSAGES) == ([("q1", "alien#0", 1)], [])


def test_a_fact_that_several_passages_state_counts_in_each():
    assert holding(Support(doc_id="hurt", quote="He"), PASSAGES[2:4]) == ["hurt#0", "hurt#1"]


def test_a_fact_listed_twice_counts_once():
    assert qrels([question(("alien", "Kane"), ("alien", "Kane"))], PASSAGES)[0] == [("q1", "alien#1", 1)]


def test_a_sentence_cut_between_passages_counts_for_the_one_that_has_most_of_it():
    cut = Support(doc_id="hurt", quote="He played Kane, the first victim, in 1979.")
    assert holding(cut, PASSAGES[2:4]) == ["hurt#1"]
    even = Support(doc_id="hurt", quote="actor. He played")
    assert holding(even, PASSAGES[2:4]) == ["hurt#0"]


def test_a_fact_without_quote_is_held_by_the_whole_document():
    assert qrels([question(("hurt", None))], PASSAGES)[0] == [("q1", "hurt#0", 1), ("q1", "hurt#1", 1)]


def test_whole_words_go_before_parts_of_words():
    passages = [passage("d#0", "A part of it."), passage("d#1", "An art.")]
    assert holding(Support(doc_id="d", quote="art"), passages) == ["d#1"]
    assert holding(Support(doc_id="d", quote="par"), passages) == ["d#0"]


@pytest.mark.parametrize(
    "doc_id, quote", [("alien", "James Cameron"), ("nowhere", None), ("nowhere", "Alien"), ("alien", "?!")]
)
def test_facts_that_no_passage_holds_are_reported(doc_id, quote):
    judged, unmatched = qrels([question((doc_id, quote), ("alien", "Kane"))], PASSAGES)
    assert judged == [("q1", "alien#1", 1)]
    assert unmatched == [UnmatchedFact("q1", doc_id, quote)]


def test_unsupported_questions_have_no_judgements():
    assert qrels([question(("alien", "Kane"), supported=False)], PASSAGES) == ([], [])


def test_judgements_follow_the_questions_then_the_passages():
    asked = [question(("hurt", None), ("alien", "Kane"), qid="q2"), question(("alien", "1979"), qid="q1")]
    assert qrels(asked, PASSAGES)[0] == [
        ("q2", "alien#1", 1),
        ("q2", "hurt#0", 1),
        ("q2", "hurt#1", 1),
        ("q1", "alien#0", 1),
    ]
