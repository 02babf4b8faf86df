"""The verifier asks about windows of a premise, in one call, and takes the best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.errors import ConfigError
from calibrag.verification.claims import claim_text
from calibrag.verification.entailment import EntailmentVerifier, windows


class Scripted:
    """Entails where the claim's first word stands in the window; counts its calls."""

    labels = ["neutral", "contradicts", "entails"]

    def __init__(self):
        self.asked = []

    def scores(self, pairs):
        self.asked.append(list(pairs))
        found = np.array([claim.split()[0] in premise.split() for premise, claim in pairs], dtype=float)
        entails = 0.1 + 0.8 * found
        return np.stack([(1 - entails) / 2, (1 - entails) / 2, entails], axis=1)


def test_the_best_window_counts_wherever_it_stands():
    model = Scripted()
    premise = "One two three. Four five six. Seven eight nine."
    scores = EntailmentVerifier(model, 3).entail([(premise, "eight is here"), (premise, "ten is here")])
    assert scores == pytest.approx([0.9, 0.1])


def test_all_windows_of_all_pairs_go_in_one_call():
    model = Scripted()
    EntailmentVerifier(model, 2).entail([("a b. c d.", "a"), ("e f.", "e"), ("g", "g")])
    assert [len(call) for call in model.asked] == [4]


def test_each_window_carries_its_lead():
    model = Scripted()
    EntailmentVerifier(model, 2).entail([("a b. c d.", "x"), ("e f.", "x")], leads=["Title", ""])
    assert [premise for premise, _ in model.asked[0]] == ["Title . a b.", "Title . c d.", "e f."]


def test_an_empty_premise_or_claim_is_never_entailed():
    model = Scripted()
    assert EntailmentVerifier(model, 5).entail([("", "a"), ("a b", " ")]) == [0.0, 0.0]
    assert model.asked == []


def test_nothing_asked_gives_nothing():
    assert EntailmentVerifier(Scripted(), 5).entail([]) == []


def test_a_model_without_an_entails_label_is_refused():
    model = Scripted()
    model.labels = ["LABEL_0", "LABEL_1"]
    with pytest.raises(ConfigError, match="label_names"):
        EntailmentVerifier(model, 5)


@given(
    text=st.lists(st.sampled_from(["a", "bb.", "c!", "J.", "d\n", "|", 'e?"']), max_size=60).map(" ".join),
    most=st.integers(1, 9),
)
def test_windows_keep_every_word_in_order_and_stay_within_the_limit(text, most):
    cut = windows(text, most)
    assert " ".join(cut).split() == text.split()
    assert all(0 < len(window.split()) <= most for window in cut)


def test_windows_end_at_sentences_and_rows():
    assert windows("He met J. Smith there. It rained. Then he left.", 7) == [
        "He met J. Smith there. It rained.",
        "Then he left.",
    ]
    assert windows("Year | Film\n1999 | A\n2000 | B", 6) == ["Year | Film 1999 | A", "2000 | B"]


def test_a_claim_has_one_form_whatever_the_spaces_and_marks():
    assert claim_text(" Who  made it ? ", " A  B ") == "Who made it? Answer: A B"
    assert claim_text("Who made it", "A B") == "Who made it? Answer: A B"
