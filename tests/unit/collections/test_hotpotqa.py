"""HotpotQA's records to documents and questions."""

import pytest

from calibrag.collections import hotpotqa
from calibrag.errors import InputError
from calibrag.records import Question, Support

ENTRY = {
    "id": "5a8",
    "question": " Who sang with Hall &amp; Oates? ",
    "answer": "Daryl  Hall",
    "type": "bridge",
    "context": [
        ["Hall &amp; Oates", ["Hall & Oates are a duo.", " Daryl Hall sings.", ""]],
        ["Alien", ["Alien is a film.", "It is long."]],
    ],
    "supporting_facts": [["Hall &amp; Oates", 1], ["Alien", 0], ["Alien", 0], ["Alien", 9], ["Hall &amp; Oates", 2]],
}


def texts(entries, paragraphs=()):
    return {d.doc_id: (d.title, d.sections[0].blocks[0].text) for d in hotpotqa.documents(entries, paragraphs, "file")}


def test_a_context_becomes_a_document_with_its_sentences_one_space_apart():
    assert texts([ENTRY, ENTRY]) == {
        "Hall_&_Oates": ("Hall & Oates", "Hall & Oates are a duo. Daryl Hall sings."),
        "Alien": ("Alien", "Alien is a film. It is long."),
    }


def test_pooled_paragraphs_are_added_and_sentences_win():
    pool = [
        {"title": "Alien", "text": "Other text."},
        {"title": "New", "text": " New text. "},
        {"title": "No", "text": ""},
    ]
    assert texts([ENTRY], pool)["Alien"] == ("Alien", "Alien is a film. It is long.")
    assert texts([ENTRY], pool)["New"] == ("New", "New text.")
    assert "No" not in texts([ENTRY], pool)


def test_two_texts_under_one_title_are_refused():
    other = {**ENTRY, "context": [["Alien", ["Another film."]]]}
    with pytest.raises(InputError, match="two texts under the title 'Alien'"):
        texts([ENTRY, other])


def test_a_question_is_supported_by_its_supporting_sentences_once_each():
    assert hotpotqa.question(ENTRY, "train") == Question(
        qid="5a8",
        text="Who sang with Hall & Oates?",
        type="bridge",
        answers=["Daryl Hall"],
        support=[
            Support(doc_id="Hall_&_Oates", quote="Daryl Hall sings."),
            Support(doc_id="Alien", quote="Alien is a film."),
        ],
        split="train",
    )


def test_every_quote_is_a_literal_substring_of_its_document():
    documents = texts([ENTRY])
    assert all(fact.quote in documents[fact.doc_id][1] for fact in hotpotqa.question(ENTRY, "train").support)
