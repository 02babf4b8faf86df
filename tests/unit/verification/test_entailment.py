"""The verifier asks about windows of a premise, in one call, takes the best, and asks a second model where unsure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.errors import ConfigError
from calibrag.verification.claims import claim_text
from calibrag.verification.entailment import Entailment, EntailmentVerifier, windows


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
    found = EntailmentVerifier(model, 3).entail([(premise, "eight is here"), (premise, "ten is here")])
    assert [score for score, _ in found] == pytest.approx([0.9, 0.1])


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
    assert EntailmentVerifier(model, 5).entail([("", "a"), ("a b", " ")]) == [Entailment(0.0), Entailment(0.0)]
    assert model.asked == []


def test_nothing_asked_gives_nothing():
    assert EntailmentVerifier(Scripted(), 5).entail([]) == []


def test_a_model_without_an_entails_label_is_refused():
    model = Scripted()
    model.labels = ["LABEL_0", "LABEL_1"]
    with pytest.raises(ConfigError, match="models.verifier.encoder: .*label_names"):
        EntailmentVerifier(model, 5)
    with pytest.raises(ConfigError, match="models.verifier.second: .*label_names"):
        EntailmentVerifier(Scripted(), 5, second=model)


class Fixed:
    """Scores each window by a table; counts its calls."""

    labels = ["entails"]

    def __init__(self, table):
        self.table = table
        self.asked = []

    def scores(self, pairs):
        self.asked.append([premise for premise, _ in pairs])
        return np.array([[self.table[premise]] for premise, _ in pairs])


def test_the_second_model_decides_inside_the_band_alone_bounds_included():
    first = Fixed({"under.": 0.29, "low.": 0.3, "mid.": 0.5, "high.": 0.7, "over.": 0.71})
    second = Fixed({"low.": 0.01, "mid.": 0.9, "high.": 0.02})
    verifier = EntailmentVerifier(first, 1, second, (0.3, 0.7))
    found = verifier.entail([(premise, "claim") for premise in first.table])
    assert found == [(0.29, False), (0.01, True), (0.9, True), (0.02, True), (0.71, False)]
    assert second.asked == [["low.", "mid.", "high."]]


def test_the_second_model_reads_all_windows_and_its_best_replaces_the_first_ones_best():
    first = Fixed({"a.": 0.6, "b.": 0.1, "c.": 0.95, "d.": 0.5})
    second = Fixed({"a.": 0.2, "b.": 0.4})
    found = EntailmentVerifier(first, 1, second, (0.3, 0.7)).entail([("a. b.", "x"), ("c. d.", "x")])
    assert found == [(0.4, True), (0.95, False)]
    assert second.asked == [["a.", "b."]]


def test_the_second_model_is_not_called_where_the_first_is_sure_or_nothing_is_asked():
    second = Fixed({})
    verifier = EntailmentVerifier(Fixed({"a.": 0.1}), 1, second, (0.3, 0.7))
    assert verifier.entail([("a.", "x")]) == [(0.1, False)]
    # an empty premise has no score that could lie in a band from 0 on
    assert EntailmentVerifier(Fixed({}), 1, second, (0.0, 0.7)).entail([("", "x")]) == [(0.0, False)]
    assert second.asked == []


def test_the_second_model_reads_the_same_leads():
    second = Fixed({"T . a.": 0.4})
    EntailmentVerifier(Fixed({"T . a.": 0.5}), 1, second, (0.3, 0.7)).entail([("a.", "x")], leads=[" T "])
    assert second.asked == [["T . a."]]


@given(
    scores=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8),
    band=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_a_pair_is_scored_alike_alone_and_in_company(scores, band):
    names = [f"w{number}." for number in range(len(scores))]
    first, second = (Fixed(dict(zip(names, column, strict=True))) for column in zip(*scores, strict=True))
    verifier = EntailmentVerifier(first, 1, second, band)
    together = verifier.entail([(name, "x") for name in names])
    assert together == [verifier.entail([(name, "x")])[0] for name in names]
    assert [found.second for found in together] == [band[0] <= score <= band[1] for score, _ in scores]


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
