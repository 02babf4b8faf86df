"""Ranking measures: hand-worked numbers, pyNTCIREVAL on random rankings, and what a run lacks."""

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyNTCIREVAL import Labeler
from pyNTCIREVAL.metrics import MSnDCG, QMeasure

from calibrag.errors import ConfigError
from calibrag.evaluation.retrieval import parse_measure, per_question, q_measure

MAX_GRADE = 3


def score(measure, grades, ranking):
    values, _ = per_question({"q": grades}, {"r": {"q": ranking}}, [measure], ["q"])
    return values[measure].item()


GRADES = {"a": 2, "b": 1, "c": 1, "d": 0}
RANKING = ["x", "b", "d", "a"]


def test_ndcg_by_hand():
    dcg = 1 / math.log2(3) + 2 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert score("nDCG@20", GRADES, RANKING) == pytest.approx(dcg / ideal)
    assert score("nDCG@2", GRADES, RANKING) == pytest.approx((1 / math.log2(3)) / (2 + 1 / math.log2(3)))


def test_q_by_hand():
    # rank 2: (1 + 1) / (2 + 3); rank 4: (2 + 3) / (4 + 4); R = 3
    assert score("Q@20", GRADES, RANKING) == pytest.approx((2 / 5 + 5 / 8) / 3)
    # the normaliser is min(k, R) even where the list is shorter than k
    assert score("Q@2", GRADES, RANKING) == pytest.approx((2 / 5) / 2)
    assert score("Q@2", GRADES, ["a"]) == pytest.approx(((1 + 2) / (1 + 2)) / 2)
    assert score("Q", GRADES, RANKING) == score("Q@20", GRADES, RANKING)


def test_recall_by_hand():
    assert score("R@20", GRADES, RANKING) == pytest.approx(2 / 3)
    assert score("R@2", GRADES, RANKING) == pytest.approx(1 / 3)


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_ndcg_and_q_agree_with_pyntcireval(data):
    docs = [f"d{i}" for i in range(data.draw(st.integers(1, 30), label="pool"))]
    judged = data.draw(st.dictionaries(st.sampled_from(docs), st.integers(0, MAX_GRADE), min_size=1))
    ranking = data.draw(st.permutations(docs))[: data.draw(st.integers(1, 30), label="length")]
    cutoff = data.draw(st.sampled_from([1, 3, 5, 20]))
    if not any(judged.values()):
        judged[docs[0]] = 1
    labeler = Labeler(judged)
    levels, ranked = labeler.compute_per_level_doc_num(MAX_GRADE + 1), labeler.label(ranking)
    grades = list(range(1, MAX_GRADE + 1))
    assert score(f"nDCG@{cutoff}", judged, ranking) == pytest.approx(MSnDCG(levels, grades, cutoff).compute(ranked))
    assert score(f"Q@{cutoff}", judged, ranking) == pytest.approx(QMeasure(levels, grades, 1.0, cutoff).compute(ranked))


@given(st.lists(st.integers(1, MAX_GRADE), min_size=1, max_size=12), st.integers(1, 15))
def test_an_ideal_ranking_scores_1(gains, cutoff):
    ideal = sorted(gains, reverse=True)
    assert q_measure(ideal, gains, cutoff) == pytest.approx(1)


@given(st.lists(st.integers(0, MAX_GRADE), max_size=12), st.lists(st.integers(0, MAX_GRADE), max_size=12))
def test_q_stays_in_the_unit_interval(ranked, rest):
    assert 0 <= q_measure(ranked, ranked + rest, 5) <= 1 + 1e-12


@pytest.mark.parametrize("name", ["nDCG@20", "Q@20", "R@20", "Q", "P@5"])
def test_names_parse_back(name):
    assert str(parse_measure(name)) == name
    assert parse_measure(str(parse_measure(name))) == parse_measure(name)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nDG@20", "did you mean 'nDCG'"),
        ("Q(rel=2)@20", "rel"),
        ("nDCG@", "such as 'nDCG@20'"),
        ("Q@'20'", "cutoff"),
        ("", "such as"),
        ("__import__('os')", "such as"),
    ],
)
def test_a_wrong_name_is_a_config_error(name, problem):
    with pytest.raises(ConfigError, match=problem):
        parse_measure(name)


def test_missing_unjudged_and_barren_questions():
    qrels = {"a": {"x": 1}, "b": {"y": 0}, "c": {"z": 2}, "e": {"w": 1}}
    run = {"a": ["unjudged", "x"], "b": ["y"], "d": ["x"], "e": [], "stranger": ["x"]}
    values, no_relevant = per_question(qrels, {"r": run}, ["R@20", "Q@20"], ["c", "a", "b", "d", "e"])
    assert no_relevant == ["b", "d"]
    assert list(values["qid"]) == ["c", "a", "b", "d", "e"]
    recall = values.set_index("qid")["R@20"]
    assert recall["c"] == 0 and recall["e"] == 0 and recall["a"] == 1
    assert np.isnan(recall["b"]) and np.isnan(recall["d"])


def test_the_filed_order_decides():
    # trec_eval would break ties of equal scores by id, descending
    assert score("nDCG@1", {"a": 1}, ["a", "z"]) == 1
    assert score("nDCG@1", {"z": 1}, ["a", "z"]) == 0
    assert score("Q@1", {"z": 1}, ["a", "z"]) == 0


def test_a_run_without_any_question_scores_zero():
    runs = {"empty": {}, "full": {"a": ["x"]}}
    values, no_relevant = per_question({"a": {"x": 1}}, runs, ["nDCG@20", "Q@20"], ["a"])
    assert values.to_dict("list") == {"run": ["empty", "full"], "qid": ["a", "a"], "nDCG@20": [0, 1], "Q@20": [0, 1]}
    assert no_relevant == []
    values, _ = per_question({"a": {"x": 1}}, {"empty": {}}, ["nDCG@20"], ["a"])
    assert list(values["nDCG@20"]) == [0]


def test_runs_and_questions_keep_their_order_and_their_names():
    qrels = {qid: {"x": 1} for qid in "ab"}
    runs = {"z": {"a": ["x"]}, "y": {"b": ["n", "x"]}}
    values, _ = per_question(qrels, runs, ["P@1", "R@20"], ["b", "a"])
    assert list(zip(values["run"], values["qid"], strict=True)) == [("z", "b"), ("z", "a"), ("y", "b"), ("y", "a")]
    assert list(values["R@20"]) == [0, 1, 1, 0]
    assert list(values["P@1"]) == [0, 1, 0, 0]


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_the_experiment_gives_what_ir_measures_gives(data):
    docs = [f"d{i}" for i in range(8)]
    qids = ["q1", "q2", "q3"]
    qrels = {qid: data.draw(st.dictionaries(st.sampled_from(docs), st.integers(1, 3), min_size=1)) for qid in qids}
    run = {qid: data.draw(st.permutations(docs))[: data.draw(st.integers(1, 8))] for qid in qids}
    names = ["nDCG@5", "Q@5", "R@5", "RR"]
    values, _ = per_question(qrels, {"r": run}, names, qids)
    scores = {qid: {doc: -rank for rank, doc in enumerate(ranked)} for qid, ranked in run.items()}
    for metric in ir_measures.iter_calc([parse_measure(name) for name in names], qrels, scores):
        assert values.set_index("qid").loc[metric.query_id, str(metric.measure)] == pytest.approx(metric.value)
