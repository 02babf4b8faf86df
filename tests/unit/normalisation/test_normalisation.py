"""The words of a text and the key under which equal answers meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.normalisation import answer_key, content_words, name_key, words


def test_words_are_folded_and_lose_punctuation():
    assert words("The “ﬁlm”, STRASSE-7!") == ["the", "film", "strasse", "7"]


def test_content_words_leave_function_words_out():
    assert content_words("Who is the director of Heat?") == {"director", "heat"}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Amélie", "amelie"),
        ("AMELIE", "amelie"),
        ("İstanbul", "istanbul"),
        ("Spider-Man:  No Way Home", "spider man no way home"),
        ("Łódź", "łodz"),
        ("東京 タワー", "東京 タワー"),
        ("?!", ""),
    ],
)
def test_spellings_of_a_name_meet_in_one_key(name, key):
    assert name_key(name) == key


@given(st.text())
def test_a_name_key_is_its_own_key(name):
    assert name_key(name_key(name)) == name_key(name)


@pytest.mark.parametrize(
    "same",
    [
        ("12", "twelve", "Twelve."),
        ("2", "two"),
        ("0", "zero"),
        ("25", "twenty-five", "Twenty five", "twenty‐five"),
        ("2,000,000", "2 million", "two million", "2000000"),
        ("1.5 million", "1,500,000"),
        ("a hundred", "100", "one hundred"),
        ("21st century", "the twenty-first century"),
        ("Ocean’s Eleven", "Oceans 11", "OCEAN'S ELEVEN"),
        ("U.S.A.", "USA"),
        ("Spider-Man", "spider man", "Spider–Man"),
        ("Straße", "STRASSE"),
        ("ﬁlm", "film"),
        ("−7", "-7"),
        ("The Beatles", "beatles"),
    ],
)
def test_equal_answers_share_a_key(same):
    assert len({answer_key(text) for text in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.5", "35"),
        ("-5", "5"),
        ("12, 13", "1213"),
        ("1,2", "12"),
        ("The The", "The"),
        ("!!!", "???"),
        ("Jaws 2", "Jaws 3"),
        ("2 million", "2"),
        ("The A Team", "The B Team"),
    ],
)
def test_different_answers_keep_apart(one, other):
    assert answer_key(one) != answer_key(other)


@given(st.text())
def test_only_blank_text_has_an_empty_key(text):
    assert (answer_key(text) == "") == (not text.strip())


@given(st.text())
def test_key_ignores_spaces_around_and_is_collapsed(text):
    key = answer_key(text)
    assert key == " ".join(key.split())
    assert answer_key(f"  {text}\t\n") == key


@given(st.integers(0, 10**12))
def test_thousands_separators_do_not_count(number):
    assert answer_key(f"{number:,}") == answer_key(str(number)) == str(number)
