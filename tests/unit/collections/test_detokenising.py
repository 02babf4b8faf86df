"""Detokenising and ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.collections.detokenising import detokenise
from calibrag.collections.identifiers import escape_id, id_to_title, title_to_id, unescape_id


@pytest.mark.parametrize(
    "tokens, text",
    [
        ("( I Do It ) For the Money is from Major 's album .", "(I Do It) For the Money is from Major's album."),
        ("born 3 May , 1976 ( aged 43 ) ;", "born 3 May, 1976 (aged 43);"),
        ("the .22 Long , 1.5 % more", "the .22 Long, 1.5 % more"),
        ("Prime Suspect 7 : The Final Act", "Prime Suspect 7: The Final Act"),
        ("the Yankees ' 27 titles and women 's golf", "the Yankees' 27 titles and women's golf"),
        ("Do n't , you 'll see ! They 've won .", "Don't, you'll see! They've won."),
        ("gross of $ 4.57 billion ( US $ 15 million )", "gross of $4.57 billion (US$15 million)"),
        ("A $ 5 million film ranked # 3", "A $5 million film ranked #3"),
        ("Open , 's-Hertogenbosch", "Open, 's-Hertogenbosch"),
        ("an American `` meta `` film called `` Smile ''", 'an American "meta" film called "Smile"'),
        ("body { voice only } [ citation needed ] .", "body {voice only} [citation needed]."),
        ("Married ... with Children", "Married ... with Children"),
        ("6 ' 0", "6'0"),
        ("the 1960 ’ s", "the 1960’s"),
        ("( ( a ) )", "((a))"),
        ("B.A . in U.S . history", "B.A. in U.S. history"),
        ("Smith & Wesson - a brand / maker", "Smith & Wesson - a brand / maker"),
        ("  two   spaces ", "two spaces"),
        ("", ""),
    ],
)
def test_tokens_become_normal_text(tokens, text):
    assert detokenise(tokens) == text


TOKENS = st.lists(st.sampled_from(["word", "Yes", "1", "(", ")", ",", ".", "'s", "n't", ":", "[", "]", ";", "!"]))


@given(TOKENS, TOKENS, TOKENS)
def test_no_character_but_spaces_is_lost(before, answer, after):
    text = " ".join([*before, *answer, *after])
    assert detokenise(text).replace(" ", "") == text.replace(" ", "")


@given(TOKENS, st.lists(st.sampled_from(["word", "Yes", "1", "New"]), min_size=1), TOKENS)
def test_an_answer_of_plain_words_stays_in_its_passage(before, answer, after):
    assert detokenise(" ".join(answer)) in detokenise(" ".join([*before, *answer, *after]))


@pytest.mark.parametrize(
    "name", ["Alien_(film)", "Boxing_Match;_or,_Glove_Contest", "100%_Wolf", "a b\u00a0c", "50%20"]
)
def test_escaped_ids_fit_run_files_and_come_back(name):
    escaped = escape_id(name)
    assert not any(character.isspace() or character == ";" for character in escaped)
    assert unescape_id(escaped) == name


@given(st.text())
def test_every_title_makes_an_id_of_its_own(title):
    doc_id = title_to_id(title)
    assert not any(character.isspace() or character == ";" for character in doc_id)
    assert id_to_title(doc_id) == title


def test_titles_read_well_as_ids():
    assert title_to_id("Alien (film)") == "Alien_(film)"
