"""Counts and accuracy of names, against hand-worked numbers; the shipped labels."""

import hashlib
from pathlib import Path

import pytest

from calibrag.corpus.naming.accuracy import Label, count_names, score_names
from calibrag.records import Annotation, Passage, read_jsonl

LABELS = Path(__file__).parents[3] / "workflow" / "resources" / "names" / "labels.jsonl"


def passage(ordinal, text="text"):
    return Passage(
        passage_id=f"d#{ordinal}",
        doc_id="d",
        title="Batman",
        heading=None,
        kind="text",
        ordinal=ordinal,
        start=0,
        end=1,
        text=text,
    )


def label(ordinal, spelled=(), referred=(), optional=(), text="text"):
    return Label(
        collection="film",
        doc_id="d",
        ordinal=ordinal,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        begins=text,
        spelled=[list(forms) for forms in spelled],
        referred=[list(forms) for forms in referred],
        optional=list(optional),
    )


def names(*triples):
    return [Annotation(passage_id=f"d#{n}", name=name, origin=origin) for n, name, origin in triples]


def row(rows, origin, match):
    return next(row for row in rows if (row["origin"], row["match"]) == (origin, match))


def test_names_are_counted_by_origin_and_after_the_first_passage():
    annotations = names((0, "A", "passage"), (0, "B", "passage"), (1, "C", "passage"), (1, "A", "document"))
    spelled, referred, both = count_names([passage(0), passage(1), passage(2)], annotations)
    assert (spelled["names"], referred["names"], both["names"]) == (3, 1, 4)
    assert (spelled["share"], referred["share"], both["share"]) == (0.75, 0.25, 1.0)
    assert (spelled["without"], referred["without"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert both["names_a_passage"] == pytest.approx(4 / 3)
    assert referred["later_share"] == 0.5


def test_no_names_have_no_shares():
    rows = count_names([passage(0)], [])
    assert [(row["share"], row["later_share"], row["without"]) for row in rows] == [(None, None, 1.0)] * 3


def test_exact_and_partial_measures_of_a_passage():
    labels = [label(0, spelled=[["Tim Burton"], ["The Beatles"], ["Ohio"]], optional=["American"])]
    annotations = names(
        (0, "Burton", "passage"), (0, "Beatles", "passage"), (0, "American", "passage"), (0, "Nonsense", "passage")
    )
    exact = row(score_names(labels, [passage(0)], annotations), "passage", "exact")
    assert (exact["n"], exact["labelled"], exact["found"], exact["ignored"]) == (1, 3, 4, 1)
    assert (exact["precision"], exact["recall"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    partial = row(score_names(labels, [passage(0)], annotations), "passage", "partial")
    assert (partial["precision"], partial["recall"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert partial["f1"] == pytest.approx(2 / 3)


def test_any_form_of_a_name_is_right_and_counts_once():
    labels = [label(0, referred=[["Friday", "Friday (1995 film)"]])]
    annotations = names((0, "Friday (1995 film)", "document"), (0, "Friday", "passage"))
    rows = score_names(labels, [passage(0)], annotations)
    measured = row(rows, "document", "exact")
    assert (measured["precision"], measured["recall"], measured["f1"]) == (1.0, 1.0, 1.0)
    # a name of the other origin does not help
    spelled = row(rows, "passage", "exact")
    assert (spelled["labelled"], spelled["precision"], spelled["recall"], spelled["f1"]) == (0, 0.0, None, None)


def test_a_label_whose_passage_has_another_text_is_missing():
    labels = [label(0, spelled=[["A"]]), label(1, spelled=[["B"]], text="old"), label(9, spelled=[["C"]])]
    measured = row(score_names(labels, [passage(0), passage(1)], names((0, "A", "passage"))), "passage", "exact")
    assert (measured["n"], measured["n_missing"], measured["labelled"], measured["recall"]) == (1, 2, 1, 1.0)


def test_without_labels_nothing_is_measured():
    measured = row(score_names([], [passage(0)], names((0, "A", "passage"))), "passage", "exact")
    assert (measured["n"], measured["n_missing"]) == (0, 0)
    assert (measured["precision"], measured["recall"], measured["f1"]) == (None, None, None)


def test_the_shipped_labels_are_40_passages_of_each_collection():
    labels = list(read_jsonl(LABELS, Label))
    for collection in ("film", "hotpotqa-open"):
        own = [label for label in labels if label.collection == collection]
        assert len(own) == len({(label.doc_id, label.ordinal) for label in own}) == 40
    for shipped in labels:
        assert not {form for forms in shipped.spelled for form in forms} & {
            form for forms in shipped.referred for form in forms
        }
