"""What a document is about, from its title and lead."""

import pytest

from calibrag.corpus.naming.subject import definition, subject
from calibrag.corpus.naming.words import Words, folded_name
from calibrag.records import Passage


def about(title, lead, *later, lead_names=()):
    texts = [lead, *later]
    passages = [
        Passage(
            passage_id=f"d#{n}",
            doc_id="d",
            title=title,
            heading=None,
            kind="text",
            ordinal=n,
            start=0,
            end=1,
            text=text,
        )
        for n, text in enumerate(texts)
    ]
    return subject(passages, [Words(text) for text in texts], lead_names)


@pytest.mark.parametrize(
    "lead, heads",
    [
        ("Batman is a 1989 American superhero film directed by Tim Burton.", ("film",)),
        ("Shakira (born 1977) is a Colombian singer, songwriter and dancer.", ("singer", "songwriter", "dancer")),
        ("Larry Friend was an American National Basketball Association (NBA) player.", ("player",)),
        ("Fortune Street is a party video game series originally created by Yuji Horii.", ("series",)),
        ("Marshall is one of the six undergraduate colleges at San Diego.", ("college",)),
        ("Gruhn Guitars is a musical instrument shop in Nashville.", ("shop",)),
        ("The White House is the official residence of the president.", ("residence",)),
        ("Batman is a film (once a novel) by Tim Burton.", ("film",)),
        ("Saints were an English band.", ("band",)),
        ("Nothing defined here.", ()),
    ],
)
def test_heads_of_the_definition(lead, heads):
    assert definition(Words(lead))[0] == heads


@pytest.mark.parametrize(
    "title, lead, name, kind",
    [
        ("Batman (1989 film)", "Batman is a film.", "Batman", "thing"),
        ("Tim Burton", "Tim Burton is an American director.", "Tim Burton", "person"),
        ("U2", "U2 are an Irish rock band.", "U2", "collective"),
        ("Newport, Wales", "Newport is a city in Wales.", "Newport", "thing"),
        ("Train discography", "The band has released ten albums.", "Train", "unknown"),
        (
            "Christian Bale filmography",
            "The actor has starred in films. He made his debut.",
            "Christian Bale",
            "person",
        ),
        (
            "Fortean Society",
            "The Fortean Society was started by Thayer. He led it as his own.",
            "Fortean Society",
            "unknown",
        ),
        ("Nadia Lee", "Nadia Lee (born 1950) was the fixer of Ohio. She left.", "Nadia Lee", "person"),
        ("Acme", "Acme is a mixer.", "Acme", "thing"),
        ("History of Ahmedabad", "Ahmedabad is a city in Gujarat.", "Ahmedabad", "thing"),
        ("2011 Arizona Wildcats football team", "The team lost.", "Arizona Wildcats", "collective"),
        ("John Doe", "John Doe wrote books. He was born in Ohio.", "John Doe", "person"),
    ],
)
def test_name_and_kind(title, lead, name, kind):
    found = about(title, lead)
    assert (found.name, found.kind) == (name, kind)


@pytest.mark.parametrize("title", ["List of films", "Lists of films", "1929 in film", "iphone"])
def test_a_title_that_names_nothing_has_no_subject(title):
    assert about(title, "It is a list of films.") is None


def test_she_is_chosen_by_the_noun_or_by_the_pronouns_of_the_document():
    assert "she" in about("Ann Lee", "Ann Lee is an actress.").pronouns
    assert "she" in about("Kim Lee", "Kim Lee is a writer.", "She left her town.").pronouns
    assert "he" in about("Kim Lee", "Kim Lee is a writer.", "He left his town.").pronouns


def test_the_full_name_of_the_lead_and_the_name_without_fc_are_aliases():
    found = about("Ella Purnell", "Ella Summer Purnell is an actress.", lead_names=["Ella Summer Purnell"])
    assert folded_name("Ella Summer Purnell") in found.aliases
    assert folded_name("Bury") in about("Bury F.C.", "Bury is a football club.").aliases


def test_a_sentence_starts_behind_a_stop_but_not_behind_an_initial():
    words = Words('He left. "It rained." Dr. Who met J. Doe')
    starts = [word for place, word in enumerate(words.tokens) if words.starts_sentence(place) and word.isalpha()]
    assert starts == ["He", "It", "Dr"]
