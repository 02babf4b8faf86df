"""Published rankings: their measures by hand, by ir-measures, and to the last digit that they print."""

from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, Success

from calibrag.errors import CalibragError
from calibrag.evaluation.published import MEASURES, compare_published, rank_documents, score_documents
from calibrag.records import Question, Support, read_jsonl
from calibrag.retrieval.runs import read_rankings

SHIPPED = Path(__file__).parents[3] / "workflow/resources/collections/hotpotqa-pooled"
RESAMPLING = {"resamples": 100, "level": 0.9, "seed": 1}
GOLD = {"q1": {"a", "b"}, "q2": {"a", "b"}, "q3": {"c"}}
RANKINGS = {"q1": ["x", "a", "y", "z", "w", "b"], "q2": ["a", "b"]}


def question(qid, gold):
    return Question(qid=qid, text="?", answers=[], support=[Support(doc_id=doc_id) for doc_id in sorted(gold)])


ASKED = [question(qid, gold) for qid, gold in GOLD.items()]
PRINTED = pd.DataFrame([{"Method": "BM25"} | dict.fromkeys(MEASURES, 0.5), {"Method": "Dense"}]).fillna(0.7)


def compare(**changes):
    arguments = dict(name="BM25", theirs=RANKINGS, printed=PRINTED, ours={"mine": {"q1": ["a", "b"]}}, asked=ASKED,
                     qids=["q1", "q2"], resampling=RESAMPLING)  # fmt: skip
    return compare_published(**arguments | changes)


def test_measures_by_hand():
    scores = score_documents(RANKINGS, GOLD)
    assert scores.loc["q1"].to_dict() == pytest.approx(
        {
            "Any Evidence Hit Rate@2": 1, "Any Evidence Hit Rate@5": 1, "Any Evidence Hit Rate@10": 1,
            "Full Evidence Hit Rate@2": 0, "Full Evidence Hit Rate@5": 0, "Full Evidence Hit Rate@10": 1,
            "Evidence Recall@5": 0.5, "MRR@10": 0.5, "MRR@50": 0.5,
        }
    )  # fmt: skip
    assert (scores.loc["q2"] == 1).all()
    assert (scores.loc["q3"] == 0).all()


@settings(deadline=None, max_examples=30)
@given(st.permutations([f"d{i}" for i in range(14)]), st.sets(st.integers(0, 13), min_size=1, max_size=3))
def test_measures_agree_with_ir_measures(ranked, places):
    gold = {f"d{place}" for place in places}
    found = score_documents({"q": ranked}, {"q": gold}).loc["q"]
    run = {"q": {doc: -rank for rank, doc in enumerate(ranked)}}
    measures = {Success @ 2: "Any Evidence Hit Rate@2", R @ 5: "Evidence Recall@5", RR @ 10: "MRR@10"}
    values = ir_measures.calc_aggregate([*measures, R @ 10], {"q": dict.fromkeys(gold, 1)}, run)
    assert {name: found[name] for name in measures.values()} == pytest.approx(
        {name: values[measure] for measure, name in measures.items()}
    )
    assert found["Full Evidence Hit Rate@10"] == (values[R @ 10] == 1)


def test_what_they_print_comes_out_of_their_ranking_to_the_last_digit():
    theirs = read_rankings(SHIPPED / "published_bm25.txt.xz")
    gold = {q.qid: {fact.doc_id for fact in q.support} for q in read_jsonl(SHIPPED / "questions.jsonl.xz", Question)}
    printed = pd.read_csv(SHIPPED / "published.csv").set_index("Method").loc["BM25"]
    means = score_documents(theirs, gold).mean()
    assert len(theirs) == 500
    assert means.round(3).to_dict() == pytest.approx(printed[MEASURES].astype(float).to_dict(), abs=1e-9)


def test_a_document_stands_where_its_first_passage_stood():
    doc_ids = {"a#0": "a", "a#1": "a", "b#0": "b"}
    assert rank_documents({"q": ["a#1", "b#0", "a#0"]}, doc_ids) == {"q": ["a", "b"]}


def test_rows_set_theirs_ours_and_the_difference_beside_one_another():
    table = compare()
    assert list(zip(table["ranking"], table["source"], table["n"], strict=True)) == [
        ("BM25", "printed", 2),
        ("Dense", "printed", 2),
        ("BM25", "recomputed", 2),
        ("BM25", "recomputed", 2),
        ("mine", "ours", 2),
        ("mine less BM25", "difference", 2),
    ]
    measure = table["Full Evidence Hit Rate@2"]
    assert list(measure) == [0.5, 0.7, 0.5, 0.5, 0.5, 0.0]
    assert list(table["n_missing"]) == [0, 0, 0, 0, 1, 1]
    last = table.iloc[-1]
    assert last["Full Evidence Hit Rate@2_low"] <= 0 <= last["Full Evidence Hit Rate@2_high"]
    assert np.isnan(table["MRR@10_low"][0])


def test_only_the_questions_that_both_rank_are_compared():
    table = compare(qids=["q2", "q3"])
    assert list(table["n"]) == [2, 2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "BM26"}, "have no 'BM26'; they have BM25, Dense"),
        ({"printed": PRINTED.drop(columns="MRR@50")}, r"lack the columns \['MRR@50'\]"),
        ({"theirs": {"q9": ["a"]}}, "BM25 ranks 1 questions without gold documents, such as q9"),
        ({"qids": ["q3"]}, "ranks none of the 1 questions"),
    ],
)
def test_files_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(CalibragError, match=message):
        compare(**changes)
