"""Quotes stand in a passage whatever happened to spaces, case and punctuation, and only as whole words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.verification.quotes import stands_in

WORDS = st.lists(st.from_regex(r"[A-Za-zé]{1,8}", fullmatch=True), min_size=1, max_size=12)
JUNK = st.sampled_from([" ", "  ", "\n", ", ", " — ", "\u00a0", " | ", ". ", "-", " “"])


@given(words=WORDS, junk=st.lists(JUNK, min_size=24, max_size=24), data=st.data())
def test_a_span_of_words_stands_whatever_lies_between_them(words, junk, data):
    text = "".join(word + gap for word, gap in zip(words, junk, strict=False))
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert stands_in(" ".join(words[start:end]).upper(), text)


@given(text=st.text(max_size=60))
def test_a_text_with_a_letter_or_digit_stands_in_itself(text):
    assert stands_in(text, text) or not stands_in(text, f"{text} x")


@given(words=WORDS)
def test_a_word_that_the_text_lacks_never_stands(words):
    assert not stands_in(f"{words[0]} 77", " ".join(words))


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("1955-1959", "The Bob Cummings Show (1955–1959) won"),
        ("well-known", "a well known actor"),
        ("the official definition", "the oﬃcial deﬁnition of"),
        ("documentation of films", "documen-\ntation of films"),
        ("documentation", "documen\u00adtation"),
        ("Prime Suspect 7 Robert", "2007 | Prime Suspect 7 : The Final Act | Robert |".replace(" : The Final Act", "")),
        ("Ender's Game", "in Ender 's Game, he"),
        ("don't", "they don’t know"),
        ("12,000 people", "some 12000 people"),
        ("STRASSE", "die Straße"),
        ("Ⅳ", "Henry IV"),
        ("日本", "これは日本の映画"),
        ("Cafe\u0301", "the Café"),
    ],
)
def test_stands(quote, text):
    assert stands_in(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", "anything"),
        (" … !", "anything … !"),
        ("art", "the party"),
        ("15", "a rate of 1.5"),
        ("1.5", "15 films"),
        ("1234", "12,34 and 1,23,4"),
        ("the cat sat", "the cat that sat"),
        ("anything", ""),
    ],
)
def test_does_not_stand(quote, text):
    assert not stands_in(quote, text)
