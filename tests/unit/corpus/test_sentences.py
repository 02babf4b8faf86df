"""Sentences: offsets, abbreviations, initials, decimals."""

import time

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


def test_a_line_break_ends_a_sentence():
    assert sentences("  Cast\nAnn as Zoë\n\nThe next paragraph.\n") == ["Cast", "Ann as Zoë", "The next paragraph."]


SPLIT = {
    "titles": "Mt. Fuji is high. | Mr. and Mrs. Smith met Rev. King. | So did Ph.D. student X.",
    "abbreviations at the end": "Apple Inc. announced it. | He lives in the U.S. | The country is big.",
    "times": "It was 5 p.m. | He left at 7:30 a.m. on foot.",
    "numbers": "See Fig. 2. | It is No. 1. | The answer is no. | He left vol. 3.5 behind.",
    "sources": "Smith et al. 2010 say so. | Cf. pp. 5-10, e.g. p. 7.",
    "decimals": "It costs $3.50. | It is 1.2%. | OK.",
    "initials": "J. R. R. Tolkien wrote it. | G. W. Bush read it.",
    "ellipses": "Wait... what? | He waited . . . and left. | He paused… then spoke.",
    "quotes": "He said “Stop.” | ‘No!’ | \"Then what?\" he asked. | 'Go.' | She left.",
    "brackets": "(See Fig. 2.) | He won [in 1990]. | (Nobody knows why.) | It rained.",
    "footnotes": "It ends here.[1] | The next one.[2][c] | The last.",
    "exclamations in names": "Yahoo! is a firm. | Wham!'s album sold. | What?! | No!!! | Yes!!",
    "addresses": "See https://a.b/c?d=e.f! | Write to a.b@c.org. | Read www.x.org/?q=1 now.",
    "bullets": "• First item / • Second item. | Its note. / - third / * fourth",
    "numbered lists": "1. First item / 2. Second item. | Its note. / (iii. Third / a) fourth / B. Fifth",
    "Chinese": "他来了。 | 他走了！ | 真的吗? | “你好。”他说。 | “再见。”",
    "Japanese": "彼は「はい。」と言った。 | 「帰ろう。」 | 「うん。」",
    "Arabic": "هل جاء؟ | نعم جاء. | ثم ذهب۔ | انتهى",
    "Hindi": "वह आया। | वह गया॥ | क्यों?",
    "Greek": "Τι κάνεις; | Είμαι καλά. | Ναι· ίσως; | Όχι.",
    "Armenian": "Բարև։ | Ինչպե՞ս ես։ | Լավ։",
    "Russian": "«Стой!» | Он ушёл. | Он пришёл.",
    "a semicolon in English": "He came; he saw; he left. | Then it rained.",
    "emoji": "Good 😀. | 👨‍👩‍👧 family! | Bye. 😀😀",
    "combining marks": "Cafe\u0301. | Ça. | は\u3099。\u0301 | か",
}


@pytest.mark.parametrize("text", SPLIT.values(), ids=SPLIT)
def test_hard_texts_are_split_as_a_reader_would(text):
    """Sentences end at |, lines at /."""
    expected = [sentence for line in text.split(" / ") for sentence in line.split(" | ")]
    given = text.replace(" / ", "\n").replace(" | ", " ")
    assert sentences(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [("他来了。他走了！", ["他来了。", "他走了！"]), ("「はい。」「いいえ。」", ["「はい。」", "「いいえ。」"])],
)
def test_scripts_without_spaces_are_split_without_them(given, expected):
    assert sentences(given) == expected


@pytest.mark.parametrize(
    "piece", ["word ", "e.g. a ", "A. ", "...", "?", ". ", "(.) ", "“", ".)", "[1]", "。", "\n", "é", ".\u0301"]
)
def test_time_grows_with_the_length_of_one_line(piece):
    def seconds(count):
        text = piece * count
        started = time.process_time()
        sentence_spans(text)
        return time.process_time() - started

    # four times the text: a quadratic way would take sixteen times as long
    assert min(seconds(80_000) for _ in range(2)) < 8 * min(seconds(20_000) for _ in range(3)) + 0.02


@pytest.mark.parametrize("text", ["", "  \n\t ", "\n\n\n"])
def test_blank_text_has_no_sentence(text):
    assert sentence_spans(text) == []


@given(st.text(alphabet=st.sampled_from("ab .!?\n\"'()1é中。」।;\u0301\u3000[]"), max_size=120) | st.text(max_size=60))
def test_spans_are_in_order_trimmed_and_hold_every_character_that_is_not_whitespace(text):
    spans = sentence_spans(text)
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    assert bounds == sorted(bounds)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
