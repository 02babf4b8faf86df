"""Sentences: offsets, abbreviations, initials, decimals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.corpus.sentences import sentence_spans


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. J. R. Smith met Mr. Bean.",
        "It cost $3.5 million, or 1.2% of No. 3's budget.",
        "She won No. 1 at approx. 5 p.m. in St. Louis.",
        "J. K. Rowling and Warner Bros. Pictures signed.",
        "He moved to the U.S. in 1990, i.e. after the war.",
    ],
)
def test_abbreviations_initials_and_decimals_end_no_sentence(sentence):
    assert sentences(f"First it rained. {sentence} Then it stopped.") == [
        "First it rained.",
        sentence,
        "Then it stopped.",
    ]


def test_questions_exclamations_and_closing_quotes_end_sentences():
    assert sentences('Who won? "Nobody won!" They left (see below).  It rained.') == [
        "Who won?",
        '"Nobody won!"',
        "They left (see below).",
        "It rained.",
    ]


def test_a_blank_line_ends_a_sentence_and_a_single_line_break_does_not():
    assert sentences("  a list\nof things\n\nThe next paragraph.\n") == ["a list\nof things", "The next paragraph."]


@pytest.mark.parametrize("text", ["", "  \n\t ", "\n\n\n"])
def test_blank_text_has_no_sentence(text):
    assert sentence_spans(text) == []


@given(st.text(alphabet=st.sampled_from("ab .!?\n\"'()1é中"), max_size=120) | st.text(max_size=60))
def test_spans_are_in_order_trimmed_and_hold_every_character_that_is_not_whitespace(text):
    spans = sentence_spans(text)
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    assert bounds == sorted(bounds)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
