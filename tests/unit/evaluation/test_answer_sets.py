"""Answers that are sets: how members are told apart, and which lists are right."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrag.evaluation.answer_sets import exact_match, f1, is_right, members
from calibrag.normalisation import answer_key

GOLD = ["Rome", "Washington, D.C.", "Trinidad and Tobago"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Rome", ["Rome"]),
        ("Rome, Oslo; Bonn and Rio", ["Rome", "Oslo", "Bonn", "Rio"]),
        ("Oslo, Bonn, and Rio", ["Oslo", "Bonn", "Rio"]),
        ("Oslo AND Bonn", ["Oslo", "Bonn"]),
        ("Andorra, Finland and Holland", ["Andorra", "Finland", "Holland"]),
        ("Washington, D.C., Rome", ["Washington, D.C.", "Rome"]),
        ("rome and trinidad and tobago", ["rome", "trinidad and tobago"]),
        ("Trinidad and Oslo", ["Trinidad", "Oslo"]),
        (" , Rome;; ", ["Rome"]),
        ("", []),
    ],
)
def test_members_are_told_apart(text, parts):
    assert members(text, GOLD, answer_key) == parts


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Trinidad and Tobago; Washington DC; the Rome", True),
        ("Rome, Rome, Washington, D.C. and Trinidad and Tobago", True),  # named twice
        ("Rome, Washington, D.C.", False),
        ("Rome, Washington, D.C., Trinidad and Tobago, Oslo", False),
        ("", False),
        (" ", False),
        (None, False),
    ],
)
def test_a_list_is_right_that_is_the_gold_set(text, right):
    assert is_right(text, GOLD) is right


def test_nothing_is_right_where_there_is_no_gold():
    assert not is_right("Rome", [])
    assert (f1("Rome", []), f1(None, GOLD)) == (0.0, 0.0)


def test_the_official_match_and_the_key_either_suffice():
    assert is_right("two, 1,200", ["2", "1200"]) and not exact_match("two, 1,200", ["2", "1200"])


NAMES = st.lists(st.sampled_from(["Rome", "Oslo", "Bonn", "Rio", "Lima"]), min_size=1, unique=True)


@settings(deadline=None)
@given(NAMES, NAMES, st.sampled_from([", ", "; ", " and ", ", and "]), st.randoms(use_true_random=False))
def test_f1_is_that_of_the_official_token_counts_over_members_in_any_order(said, gold, separator, shuffle):
    common = sum((Counter(said) & Counter(gold)).values())
    precision, recall = common / len(said), common / len(gold)
    wanted = 2 * precision * recall / (precision + recall) if common else 0.0
    text = separator.join(said)
    assert f1(text, gold) == pytest.approx(wanted)
    again = list(gold)
    shuffle.shuffle(again)
    assert f1(text, again) == f1(text, gold)
    assert is_right(text, gold) is (set(said) == set(gold)) is bool(exact_match(text, gold))
