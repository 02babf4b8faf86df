"""Answers against gold answers: official scores by hand, and what the grouping key joins and keeps apart."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.evaluation.answers import exact_match, f1, is_right, normalise
from calibrag.normalisation import answer_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Lord of the Rings", "lord of rings"),
        ("Spider-Man", "spiderman"),
        ("A.I.", "ai"),
        ("an apple, a pear", "apple pear"),
        ("Ocean’s Eleven", "ocean’s eleven"),
    ],
)
def test_official_normalisation_by_hand(text, expected):
    assert normalise(text) == expected


def test_exact_match_takes_the_best_gold_answer():
    assert exact_match("the Beatles!", ["Wings", "Beatles"]) == 1
    assert exact_match("Beatles band", ["Wings", "Beatles"]) == 0


def test_f1_by_hand():
    # said {peter, jackson}, gold {sir, peter, jackson}: precision 1, recall 2/3
    assert f1("Peter Jackson", ["Sir Peter Jackson"]) == pytest.approx(0.8)
    # a repeated token counts as often as both sides hold it
    assert f1("new new york", ["new york"]) == pytest.approx(2 * (2 / 3) * 1 / (5 / 3))
    assert f1("Paris", ["London", "Paris, France"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(("said", "gold"), [("yes", "yes it is"), ("no", "no one"), ("noanswer here", "noanswer")])
def test_closed_answers_earn_no_partial_credit(said, gold):
    assert f1(said, [gold]) == 0
    assert f1(gold, [said]) == 0
    assert f1(said, [said]) == 1


def test_a_refusal_scores_nothing():
    assert exact_match(None, ["None"]) == 0
    assert f1(None, ["None"]) == 0
    assert not is_right(None, ["None"])


def official(prediction, ground_truth):
    """Return (EM, F1) as hotpot_evaluate_v1.py computes them, written apart from the package."""

    def norm(s):
        s = "".join(ch for ch in s.lower() if ch not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", s).split())

    p, g = norm(prediction), norm(ground_truth)
    em = p == g
    if p in ["yes", "no", "noanswer"] and p != g:
        return em, 0
    if g in ["yes", "no", "noanswer"] and p != g:
        return em, 0
    common = Counter(p.split()) & Counter(g.split())
    same = sum(common.values())
    if same == 0:
        return em, 0
    precision, recall = same / len(p.split()), same / len(g.split())
    return em, 2 * precision * recall / (precision + recall)


words = st.lists(st.sampled_from(["yes", "no", "The", "a", "noanswer", "cat", "Dog.", "sat", "é", "-"]), max_size=5)


@given(words, words)
def test_scores_agree_with_the_official_script(said, gold):
    em, score = official(" ".join(said), " ".join(gold))
    assert exact_match(" ".join(said), [" ".join(gold)]) == em
    assert f1(" ".join(said), [" ".join(gold)]) == pytest.approx(score)


def test_right_means_either_match():
    assert is_right("twelve", ["12"])
    assert exact_match("twelve", ["12"]) == 0
    assert is_right("Spiderman", ["Spider-Man"])
    assert answer_key("Spiderman") != answer_key("Spider-Man")
    assert not is_right("thirteen", ["12"])


@pytest.mark.parametrize(("said", "gold"), [("", ["The"]), ("the", ["a"]), ("...", ["!"]), (" ", [" "])])
def test_texts_without_content_do_not_match_each_other(said, gold):
    assert not is_right(said, gold)


def test_nothing_is_right_without_gold_answers():
    assert not is_right("x", [])
    assert exact_match("x", []) == 0
    assert f1("x", []) == 0
