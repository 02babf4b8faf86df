"""Quotes stand in a passage whatever happened to spaces, case and punctuation, and only as whole words."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calibrag.verification.quotes import find_quote, stands_in

WORD = st.from_regex(r"[A-Za-zé]{1,8}", fullmatch=True)
WORDS = st.lists(WORD, min_size=1, max_size=12)
JUNK = st.sampled_from([" ", "  ", "\n", ", ", " — ", "\u00a0", " | ", ". ", "-", " “", "’ ", "\u2009", "\t", "™ "])
INVISIBLE = st.sampled_from(["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u200e", "\ufe0f"])
FORMS = st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"])
# letters that fold, compose, decompose, or come as one sign for several
ODD_WORD = st.text(st.sampled_from("abZÉéßﬁﬀŐőÅñΣςσIıİǅ한국gがjカ日本ｆｕＬ"), min_size=1, max_size=8)


@given(words=WORDS, junk=st.lists(JUNK, min_size=24, max_size=24), data=st.data())
def test_a_span_of_words_stands_whatever_lies_between_them(words, junk, data):
    text = "".join(word + gap for word, gap in zip(words, junk, strict=False))
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert stands_in(" ".join(words[start:end]).upper(), text)


@given(words=st.lists(ODD_WORD, min_size=1, max_size=6), quoted=FORMS, held=FORMS, data=st.data())
def test_a_span_of_words_stands_in_whichever_unicode_form_either_is_written(words, quoted, held, data):
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = unicodedata.normalize(quoted, " ".join(words[start:end]))
    assert stands_in(quote, unicodedata.normalize(held, " ".join(words)))


@given(words=st.lists(ODD_WORD, min_size=1, max_size=6), data=st.data())
def test_invisible_characters_never_matter(words, data):
    text = " ".join(words)
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(INVISIBLE) + text[place:]
    assert stands_in(" ".join(words), text)
    assert stands_in(text, " ".join(words))


@given(words=st.lists(WORD, min_size=3, max_size=12), place=st.integers(0, 11), cut=st.integers(1, 7))
def test_a_word_hyphenated_at_a_lines_end_is_whole(words, place, cut):
    word = words[place % len(words)]
    assume(cut < len(word))
    broken = list(words)
    broken[place % len(words)] = f"{word[:cut]}-\n{word[cut:]}"
    assert stands_in(" ".join(words), " ".join(broken))


@given(rows=st.lists(st.lists(WORDS.map(" ".join), min_size=3, max_size=3), min_size=1, max_size=5), data=st.data())
def test_every_cell_and_every_row_of_a_table_stands_in_it(rows, data):
    text = "\n".join(" | ".join(row) for row in rows)
    row = data.draw(st.sampled_from(rows))
    assert stands_in(data.draw(st.sampled_from(row)), text)
    assert stands_in(", ".join(row), text)


def test_a_cell_under_its_header_is_no_quote_unless_they_touch():
    table = "Year | Film | Studio\n1999 | The Matrix | Warner\n2003 | Elf | New Line"
    assert not stands_in("Film: Elf", table)
    assert not stands_in("Year: 2003", table)
    assert stands_in("Born: 1950", "Born | 1950")


@given(text=st.text(max_size=60))
def test_a_text_with_a_letter_or_digit_stands_in_itself_from_its_first_to_its_last(text):
    found = find_quote(text, text)
    if any(unicodedata.category(character)[0] in "LN" for character in unicodedata.normalize("NFC", text)):
        assert found is not None
    if found is not None:
        start, end = found
        assert 0 <= start < end <= len(text)
        assert find_quote(text[start:end], text) == found
        assert not stands_in(text, f"{text} x") or find_quote(text, f"{text} x") == found


@given(before=WORDS, words=WORDS, after=WORDS)
def test_the_place_of_a_quote_holds_its_words_and_no_more(before, words, after):
    before, after = ([f"{word}7" for word in some] for some in (before, after))  # no quote stands there
    text = f"{' '.join(before)} — “{'  '.join(words)}”, {' '.join(after)}"
    start, end = find_quote(" ".join(words), text)
    assert text[start:end] == "  ".join(words)


@given(words=WORDS)
def test_a_word_that_the_text_lacks_never_stands(words):
    assert not stands_in(f"{words[0]} 77", " ".join(words))


@given(number=st.decimals(0, 10**7, places=2), other=st.decimals(0, 10**7, places=2))
def test_a_number_stands_where_it_is_written_and_no_other(number, other):
    text = f"it rose to {number:,} in all"
    assert stands_in(f"{number}", text) and stands_in(f"{number:,}", text)
    assert stands_in(f"{other}", text) == (number == other)


@pytest.mark.parametrize(
    ("quote", "text", "held"),
    [
        ("1955-1959", "The Bob Cummings Show (1955–1959) won", "1955–1959"),
        ("1955 — 1959", "The Bob Cummings Show (1955‑1959) won", "1955‑1959"),
        ("well-known", "a well known actor", "well known"),
        ("the official definition", "the oﬃcial deﬁnition of", "the oﬃcial deﬁnition"),
        ("documentation of films", "documen-\ntation of films", "documen-\ntation of films"),
        ("documentation", "documen\u00adtation", "documen\u00adtation"),
        ("documentation", "(documen‐\r\ntation)", "documen‐\r\ntation"),
        ("Prime Suspect 7 Robert", "2007 | Prime Suspect 7 | Robert |", "Prime Suspect 7 | Robert"),
        ("Ender's Game", "in Ender 's Game, he", "Ender 's Game"),
        ("don't", "they don’t know", "don’t"),
        ("“He left”, she said.", '"He left", she said', 'He left", she said'),
        ("12,000 people", "some 12000 people", "12000 people"),
        ("12 000 people", "some 12\u202f000 people", "12\u202f000 people"),
        ("rose to 1.5 million", "it rose to 1.5 million", "rose to 1.5 million"),
        ("2020", "on 1.5.2020.", "2020"),
        ("1 1/2 hours", "some 1½ hours", "1½ hours"),
        ("10", "some 10² m", "10"),
        ("STRASSE", "die Straße", "Straße"),
        ("Ⅳ", "Henry IV", "IV"),
        ("日本", "これは日本の映画", "日本"),
        ("서울", "서울은 크다", "서울"),
        ("が", "か\u3099です", "か\u3099"),
        ("Cafe\u0301", "the Café", "Café"),
        ("Café", "the Cafe\u0301 there", "Cafe\u0301"),
        ("Hawai'i", "in Hawaiʻi.", "Hawaiʻi"),
        ("the Foo phone", "the Foo™ phone", "the Foo™ phone"),
        ("I ❤ NY", "I ❤\ufe0f NY", "I ❤\ufe0f NY"),
        ("ΟΔΟΣ", "η οδός, οδος", "οδος"),
    ],
)
def test_stands(quote, text, held):
    start, end = find_quote(quote, text)
    assert text[start:end] == held


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", "anything"),
        (" … !", "anything … !"),
        ("\u0301", "Cafe\u0301"),
        ("art", "the party"),
        ("15", "a rate of 1.5"),
        ("1.5", "15 films"),
        ("5 million", "1.5 million"),
        ("000 people", "12,000 people"),
        ("102", "10² m"),
        ("1234", "12,34 and 1,23,4"),
        ("the cat sat", "the cat that sat"),
        ("Cafe", "the Cafe\u0301"),
        ("か", "が"),
        ("하", "한국"),
        ("שלו", "שלום"),
        ("anything", ""),
    ],
)
def test_does_not_stand(quote, text):
    assert not stands_in(quote, text)
