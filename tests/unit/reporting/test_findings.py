"""Sentences about tables: worked by hand, with ties, single rows, missing values, and differences within and beyond
noise."""

import numpy as np
import pandas as pd
import pytest

from calibrag.reporting import findings, study_findings
from calibrag.reporting.findings import Ranked

RANKED = Ranked("answer run", ["system", "run"], "accHMR")


def runs(*rows, collection="film"):
    """Return a table of runs: (system, run, accHMR, low, high)."""
    columns = ["system", "run", "accHMR", "accHMR_low", "accHMR_high"]
    return pd.DataFrame(rows, columns=columns).assign(collection=collection)


def said(table, pairs=findings.no_pairs):
    return findings.rank_sentences(table, RANKED, pairs, 3)


def pairs(low, high):
    table = pd.DataFrame(
        {
            "collection": ["film"], "system": "bitem", "measure": "accHMR", "first": "AC-1", "second": "four-pass",
            "difference": [-0.02], "difference_low": [low], "difference_high": [high],
        }
    )  # fmt: skip
    return findings.pairs_of(table, "accHMR", system=True)


TWO = runs(("bitem", "AC-1", 0.1, 0.05, 0.15), ("bitem", "four-pass", 0.12, 0.07, 0.18))


def test_the_best_run_is_named_with_its_lead_and_whether_that_is_noise():
    assert said(TWO, pairs(-0.05, 0.01)) == [
        "By accHMR the best answer run on film is four-pass (.120 [.070, .180]), before AC-1 (.100 [.050, .150]); "
        "the difference is .020 [-.010, .050]: within noise."
    ]
    assert said(TWO, pairs(-0.05, -0.01))[0].endswith("the difference is .020 [.010, .050]: beyond noise.")


def test_of_two_that_nobody_compared_no_difference_is_told():
    assert said(TWO)[0].endswith("before AC-1 (.100 [.050, .150]).")


def test_a_difference_without_interval_is_neither_noise_nor_beyond_it():
    assert said(TWO, pairs(np.nan, np.nan))[0].endswith("the difference is .020: without an interval.")


def test_runs_that_tie_share_the_first_place():
    table = pd.concat([TWO, runs(("bitem", "AC-3", 0.12, 0.07, 0.18))])
    assert said(table) == [
        "On film four-pass and AC-3 share the best accHMR, .120 [.070, .180]; next is AC-1 (.100 [.050, .150])."
    ]
    assert said(table[1:]) == ["On film all 2 answer runs have the same accHMR, .120 [.070, .180]."]


def test_one_run_alone_is_called_so():
    assert said(TWO[:1]) == ["On film there is one answer run alone, AC-1, with accHMR .100 [.050, .150]."]


def test_runs_without_a_value_are_counted_and_never_ranked():
    lacking = runs(("bitem", "x", None, None, None), ("bitem", "y", np.nan, np.nan, np.nan)).astype({"accHMR": float})
    assert said(lacking) == ["On film no answer run has a value of accHMR."]
    assert said(pd.concat([TWO, lacking]))[0].endswith(" 2 of 4 answer runs have no value.")


def test_systems_are_named_where_there_are_several_and_collections_apart():
    table = pd.concat([TWO, TWO.assign(system="other", accHMR=0.2), TWO.assign(collection="open")])
    first, second = said(table)
    assert first == (
        "On film other AC-1 and other four-pass share the best accHMR, .200 [.050, .150]; "
        "next is bitem four-pass (.120 [.070, .180])."
    )
    assert second.startswith("By accHMR the best answer run on open is four-pass (")


def test_a_missing_column_is_an_error():
    with pytest.raises(KeyError):
        said(TWO.drop(columns="accHMR_low"))


def differences(*rows, **columns):
    table = pd.DataFrame(rows, columns=["difference", "difference_low", "difference_high"])
    return table.assign(**columns)


def test_types_are_counted_by_measure():
    one = differences((0.1, 0.01, 0.2), (0.1, -0.01, 0.2), measure="accHMR", first="four-pass", second="AC-1")
    two = differences((-0.1, -0.2, -0.01), measure="HMR", first="four-pass", second="AC-1")
    assert findings.type_sentences(pd.concat([one, two])) == [
        "By collection and type of question, four-pass less AC-1 is beyond noise for 1 of 2 in accHMR and "
        "1 of 1 in HMR."
    ]


def test_the_gain_of_length_is_told_with_what_is_left():
    table = pd.DataFrame(
        {
            "collection": ["film"], "system": "bitem", "measure": "nDCG@20", "gain": 0.07, "gain_low": 0.02,
            "gain_high": 0.12, "gain_cut": 0.01, "gain_cut_low": -0.02, "gain_cut_high": 0.04,
        }
    )  # fmt: skip
    assert findings.length_sentences(table, "nDCG@20", 2) == [
        "On film PG-2 of bitem gains .07 [.02, .12] over PG-1 in nDCG@20, beyond noise; cut to PG-1's length it gains "
        ".01 [-.02, .04]."
    ]
    assert findings.length_sentences(table, "Q@20", 2) == []


def signals(*rows, system="bitem"):
    columns = ["signal", "auroc", "auroc_low", "auroc_high", "p_adjusted", "n"]
    return pd.DataFrame(rows, columns=columns).assign(collection="film", system=system)


def test_the_most_telling_signal_may_go_with_wrong_answers():
    table = signals(
        ("answer_entropy", 0.3, 0.2, 0.4, 0.01, 60),
        ("searches", 0.6, 0.45, 0.7, 0.06, 60),
        # on three answers alone: the interval leaves out .5, the test says nothing
        ("reads", 1.0, 1.0, 1.0, 0.5, 3),
        ("nothing", np.nan, np.nan, np.nan, np.nan, 0),
    )
    assert study_findings.signal_sentences(table, 2) == [
        "On film 1 of 3 signals tell right answers from wrong ones at the level .05 after correction; of these the "
        "farthest from .5 is answer entropy, AUROC .30 [.20, .40] on 60 answers, more of which goes with wrong answers."
    ]
    assert study_findings.signal_sentences(table[1:], 2) == [
        "On film 0 of 2 signals tell right answers from wrong ones at the level .05 after correction; the farthest "
        "from .5 is reads, AUROC 1.00 [1.00, 1.00] on 3 answers, more of which goes with right answers."
    ]
    assert study_findings.signal_sentences(table[3:], 2) == ["On film none of the 1 signals has an AUROC."]
    both = study_findings.signal_sentences(pd.concat([table, table.assign(system="other")]), 2)
    assert "signals of other tell" in both[1]


def sources(*rows):
    columns = ["source", "accHMR", "accHMR_difference", "accHMR_difference_low", "accHMR_difference_high"]
    table = pd.DataFrame(rows, columns=columns).assign(collection="film", system="bitem")
    table["rank"] = table["accHMR"].rank(ascending=False)
    return table.assign(accHMR_low=table["accHMR"] - 0.1, accHMR_high=table["accHMR"] + 0.1)


def test_the_best_confidence_stands_beside_the_rule():
    none = (None, None, None)
    rule, fitted = ("four-pass", 0.2, *none), ("fitted", 0.3, 0.1, -0.01, 0.21)
    start = "On film the answers of four-pass have their best accHMR, "

    def read(*rows):
        return study_findings.confidence_sentences(sources(*rows).infer_objects(), "four-pass", 2)

    assert read(rule, fitted) == [
        f"{start}.30 [.20, .40], by fitted; the rule has .20 [.10, .30], a difference of .10 [-.01, .21]: within noise."
    ]
    assert read(rule, ("fitted", 0.1, -0.1, -0.2, 0.0)) == [f"{start}.20 [.10, .30], by the rule itself."]
    assert read(rule, ("constant", 0.2, 0.0, 0.0, 0.0)) == [
        f"{start}.20 [.10, .30], by the rule itself, as constant do."
    ]
    assert read(fitted) == [f"{start}.30 [.20, .40], by fitted."]


def test_a_confidence_of_some_of_the_answers_alone_is_not_the_best():
    table = sources(("four-pass", 0.2, None, None, None), ("judge", 0.9, 0.1, 0.0, 0.2)).infer_objects()
    [said] = study_findings.confidence_sentences(table.assign(rank=[1, None]), "four-pass", 2)
    assert said.endswith("have their best accHMR, .20 [.10, .30], by the rule itself.")


def test_transfer_counts_losses_and_names_the_largest():
    columns = ["accHMR_difference", "accHMR_difference_low", "accHMR_difference_high"]
    rows = [(-0.1, -0.2, -0.05), (-0.01, -0.1, 0.1), (0.02, -0.01, 0.1), (np.nan, np.nan, np.nan)]
    table = pd.DataFrame(rows, columns=columns).assign(run="fitted", fitted_on="a", tested_on=["b", "c", "d", "e"])
    assert study_findings.transfer_sentences(table, 2) == [
        "Fitted on another collection, confidence has a lower accHMR than within in 2 of 3 cases, beyond noise in 1; "
        "the largest loss is that of fitted from a to b, -.10 [-.20, -.05]."
    ]
    assert study_findings.transfer_sentences(table[2:3], 2)[0].endswith("in 0 of 1 cases, beyond noise in 0.")
    assert study_findings.transfer_sentences(table[3:], 2) == [
        "No confidence fitted on one collection could be compared on another."
    ]


def test_permuted_labels_tell_their_range():
    assert study_findings.permuted_sentences(pd.DataFrame({"AUROC_permuted": [0.52, 0.48, None]}), 2) == [
        "Fitted on permuted labels, confidence has a mean AUROC between .48 and .52; without a leak it is about .5, "
        "and lower where few right answers leave but the base rate."
    ]


def test_errors_tell_what_was_recorded_and_nothing_else():
    columns = ["outcome", "n", "n_judged", "all_found", "right_in_another_pass"]
    rows = [("right", 2, 2, 2, 0), ("wrong", 58, 50, 20, 3)]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[1:], "Int64"))
    table = table.assign(collection="film", system="bitem")
    assert study_findings.error_sentences(table) == [
        "On film 58 of 60 questions got a wrong answer; for 3 of these another pass had a right one and all needed "
        "passages were retrieved for 20 of 50."
    ]
    bare = table.assign(n_judged=0, all_found=pd.NA, right_in_another_pass=pd.NA)
    assert study_findings.error_sentences(bare) == ["On film 58 of 60 questions got a wrong answer."]
    assert study_findings.error_sentences(table[:1]) == ["On film none of the 2 questions got a wrong answer."]
    missing = table[:1].assign(outcome="missing")
    assert study_findings.error_sentences(missing) == [
        "On film none of the 2 questions has an answer in the studied run."
    ]


def test_cost_leaves_out_what_nobody_recorded():
    table = pd.DataFrame({"pass": ["1", "all"], "searches": [1, 4.25], "tokens": [5, 1234.4]})
    table = table.assign(collection="film", system="bitem", model_calls=None, seconds=np.nan)
    assert study_findings.cost_sentences(table) == [
        "On film a question takes 4.2 searches and 1,234 tokens on average."
    ]
    assert study_findings.cost_sentences(table.assign(searches=None, tokens=None)) == []


def test_ablations_tell_how_many_differ_after_correction_and_the_largest_difference():
    table = pd.DataFrame(
        {
            "collection": "film", "system": ["no-x", "no-y", "no-x"], "run": ["PG-2", "PG-2", "four-pass"],
            "measure": ["nDCG@20", "nDCG@20", "accHMR"], "difference": [-0.2, 0.1, 0.0],
            "difference_low": [-0.3, 0.0, 0.0],
            "difference_high": [-0.1, 0.2, 0.0], "p_holm": [0.01, 0.2, 1.0],
        }
    )  # fmt: skip
    assert study_findings.ablation_sentences(table, "nDCG@20", 2) == [
        "On film 1 of 2 systems differ from their base in nDCG@20 of PG-2 at the level .05 after correction; the "
        "largest difference is that of no-x, -.20 [-.30, -.10] (p, Holm .01).",
        "On film 0 of 1 systems differ from their base in accHMR of four-pass at the level .05 after correction; none "
        "of them differs at all.",
    ]


def test_labels_tell_their_sources_and_what_waits():
    table = pd.DataFrame(
        {
            "collection": "film", "system": "bitem", "source": ["match", "undecided", "log em"], "n": 10,
            "n_decided": [8, 2, 0], "n_compared": [0, 0, 8], "n_differ": [0, 0, 1],
            "n_undecided_right": [0, 0, 1],
        }
    )  # fmt: skip
    assert study_findings.label_sentences(table) == [
        "On film 10 distinct answers have labels: 8 by match; 2 wait for a review and count as wrong (log em calls 1 "
        "right)."
    ]
