"""An answer run in one row: no refusal, fault, gap or undefined measure is averaged away."""

import numpy as np
import pandas as pd
import pytest

from calibrag.errors import CalibragError
from calibrag.evaluation import bootstrap
from calibrag.evaluation.answer_measures import NAMES, Answers, parse_measures
from calibrag.evaluation.answer_summary import ENDS, answers_of, counted_only, summarise_answer_run

MEASURES = parse_measures([*NAMES, "ECE(bins=5,binning=mass)", "HMR(unsupported=leave_out)"])


def row_of(
    qid,
    right=False,
    confidence=0.5,
    refused=False,
    missing=False,
    supported=True,
    error=None,
    precision=0.5,
    label="match",
):
    return {
        "qid": qid, "right": right, "em": int(right), "f1": 0.8 if right else 0.1,
        "confidence": np.nan if missing else confidence, "refused": refused, "missing": missing, "error": error,
        "supported": supported, "nugget_precision": precision, "label": None if refused or missing else label,
    }  # fmt: skip


# right, wrong, refused, missing
RUN = [
    row_of("q1", right=True, confidence=0.8),
    row_of("q2", confidence=0.4),
    row_of("q3", confidence=0.1, refused=True),
    row_of("q4", missing=True, error="endpoint: 500") | {"em": 0, "f1": 0.0, "nugget_precision": np.nan},
]


def summary(rows=RUN, missing="present", B=200, measures=MEASURES):
    return summarise_answer_run(pd.DataFrame(rows), measures, B, 0.95, 1, missing)


def test_present_counts_the_questions_in_the_run():
    row = summary()
    assert (row["n"], row["n_asked"], row["n_missing"], row["n_error"], row["n_refused"]) == (3, 4, 1, 1, 1)
    assert row["n_right"] == 1 and row["n_unsupported"] == 0
    assert row["accuracy"] == pytest.approx(1 / 3)
    # the refusal enters I- with its confidence
    assert row["R_O"] == pytest.approx(1 - (0.4 + 0.1) / 2)
    assert row["R_U"] == pytest.approx(0.8)
    assert row["OB"] == pytest.approx(1.3 / 3 - 1 / 3)
    assert (row["EM"], row["F1"], row["nugget_precision"]) == pytest.approx((1 / 3, 1 / 3, 0.5))
    assert row["AUROC"] == 1


def test_undecided_answers_are_counted_whichever_questions_count():
    rows = [*RUN, row_of("q5", label="undecided"), row_of("q6", label="undecided", supported=False)]
    assert [summary(rows, missing)["n_undecided"] for missing in ("present", "wrong")] == [2, 2]


def test_wrong_counts_what_the_run_lacks_and_invents_no_confidence():
    present, strict = summary(), summary(missing="wrong")
    assert strict["n"] == 4
    for name in ("accuracy", "accHMR", "EM", "F1", "nugget_precision"):
        assert strict[name] == pytest.approx(present[name] * 3 / 4)
    for name in ("HMR", "R_O", "R_U", "AUROC", "AURC", "Brier", "ECE", "PRR", "Spearman"):
        assert strict[name] == present[name]


def test_every_defined_measure_has_an_interval_around_it():
    rows = [row_of(str(i), right=i % 3 > 0, confidence=(i * 7 % 11) / 10, precision=i / 30) for i in range(30)]
    row = summary(rows)
    for measure in map(str, MEASURES):
        if "ECE" not in measure:  # biased upwards in resamples, so its interval may lie above it
            assert row[f"{measure}_low"] <= row[measure] <= row[f"{measure}_high"]
        assert row[f"{measure}_undefined"] == 0


def test_an_interval_says_how_many_resamples_it_is_not_made_of():
    row = summary(B=20_000)
    # a third of three: resamples of right or of wrong answers alone have no AUROC
    assert row["AUROC_undefined"] == pytest.approx((1 / 3) ** 3 + (2 / 3) ** 3, abs=0.01)
    assert row["share_no_wrong"] == pytest.approx((1 / 3) ** 3, abs=0.01)
    assert row["share_no_right"] == pytest.approx((2 / 3) ** 3, abs=0.01)
    assert row["HMR_undefined"] == 0
    assert (row["AUROC_low"], row["AUROC_high"]) == (1, 1)


def test_a_measure_that_is_undefined_has_neither_value_nor_interval():
    row = summary([row_of("q1", right=True), row_of("q2", right=True, confidence=1.0)])
    assert all(row[f"AUROC{end}"] is None for end in ENDS)
    assert row["R_O"] == 1 and row["AURC"] == 0


def test_values_and_intervals_are_those_of_gathered_resamples():
    generator = np.random.default_rng(4)
    rows = [row_of(str(i), right=generator.random() < 0.6, confidence=round(generator.random(), 1)) for i in range(25)]
    row, frame = summary(rows, B=300), pd.DataFrame(rows)
    index = bootstrap.resamples(25, 300, 1)
    for measure in MEASURES:
        if measure.column in (None, "right") and "unsupported=leave_out" not in str(measure):
            replicates = bootstrap.replicates(measure, index, frame["confidence"], frame["right"])
            low, high, undefined = bootstrap.interval_where_defined(replicates, 0.95)
            found = [row[f"{measure}{end}"] for end in ENDS[1:]]
            assert found == pytest.approx([low, high, undefined]), str(measure)


def test_the_seed_fixes_the_row():
    assert summary() == summary()


def test_a_run_without_entries_has_no_measures():
    empty = [row_of(f"q{i}", missing=True) for i in range(4)]
    row = summary(empty)
    assert row["n"] == 0 and row["n_missing"] == 4
    assert all(row[f"{measure}{end}"] is None for measure in MEASURES for end in ENDS)
    assert row["share_no_wrong"] is row["share_no_right"] is None
    assert list(row) == list(summary())


def test_an_all_missing_run_is_all_wrong_under_the_strict_policy():
    row = summary([row_of(f"q{i}", missing=True) for i in range(4)], missing="wrong")
    assert (row["n"], row["accuracy"], row["accHMR"]) == (4, 0, 0)
    # no answer at all, so that both R_O and R_U are 1 for free
    assert (row["R_O"], row["R_U"], row["share_no_wrong"], row["share_no_right"]) == (1, 1, 1, 1)
    assert row["OB"] is None and row["Brier"] is None


def test_a_refusal_is_right_only_without_support():
    bare = [
        row_of("u1", right=True, confidence=0.0, refused=True, supported=False),
        row_of("u2", confidence=0.9, supported=False),
    ]
    row = summary(RUN + bare)
    assert row["n_right_refusals"] == 1 and row["n_refused"] == 2 and row["n_unsupported"] == 2
    assert row["n"] == 4  # q1, q2, q3 and the wrong answer to u2
    assert row["R_O"] == pytest.approx(1 - (0.4 + 0.1 + 0.9) / 3)
    # without unsupported questions all is as if they had not been asked
    assert row["HMR(unsupported=leave_out)"] == summary()["HMR"] != row["HMR"]


def test_an_answer_to_an_unsupported_question_is_wrong_though_it_matches_an_old_gold_answer():
    row = summary([row_of("q1", right=True, confidence=0.8), row_of("u", right=True, confidence=0.9, supported=False)])
    assert (row["n"], row["n_right"], row["R_O"]) == (2, 1, pytest.approx(0.1))


def test_a_run_that_files_no_nuggets_by_design_has_no_precision():
    row = summary([each | {"nugget_precision": np.nan} for each in RUN])
    assert all(row[f"nugget_precision{end}"] is None for end in ENDS)


def test_a_hole_among_nugget_precisions_is_refused():
    with pytest.raises(CalibragError, match="missing for q2"):
        summary([RUN[0], RUN[1] | {"nugget_precision": np.nan}, RUN[2]])


def test_answers_feed_the_measures():
    answers = counted_only(answers_of(pd.DataFrame(RUN), "present"))
    assert isinstance(answers, Answers) and len(answers.right) == 3
    assert float(parse_measures(["HMR"])[0].of(answers)) == summary()["HMR"]


def test_a_confidence_in_percent_is_refused():
    with pytest.raises(ValueError, match="lie in"):
        summary([row_of("q1", right=True, confidence=80)])


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError, match="'present' or 'wrong'"):
        summary(missing="ignore")
