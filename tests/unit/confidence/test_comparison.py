"""Sources of confidence are compared on the same answers, by hand and against plain loops."""

import numpy as np
import pandas as pd
import pytest
from labelled_signals import SETTINGS, labelled

from calibrag.confidence.comparison import COLUMNS, FILED, compare_confidences, compare_systems, sources_of
from calibrag.confidence.fitted import as_signals, cross_fit
from calibrag.errors import LeakError
from calibrag.evaluation.answer_measures import parse_measure
from calibrag.runs.names import fitted_runs

HMR = parse_measure("HMR")
RESAMPLING = {"resamples": 400, "level": 0.95, "seed": 13}
TESTS = {"trials": 500, "seed": 17}
OTHERS = ["judge", *fitted_runs(SETTINGS)]


def scored(run, qids, answers, right, stated, **more):
    """Return the rows of a run as score_answer_runs writes them."""
    refused = [answer is None for answer in answers]
    rows = dict(run=run, qid=qids, answer=answers, right=right, confidence=stated, refused=refused)
    return pd.DataFrame(rows | dict(collection="c", system="s", missing=False, supported=True) | more)


FOUR = dict(qids=["a", "b", "c", "d"], answers=["1", "two", None, "4"], right=[True, False, False, True])


def four(run="rule", stated=(1.0, 0.5, 0.0, 0.5), **more):
    return scored(run, stated=list(stated), **(FOUR | more))


SIGNALS = pd.DataFrame({"qid": ["a", "b", "d"], "filed_confidence": [0.7, np.nan, 0.4]})


def compare(rows, signals=SIGNALS, others=OTHERS):
    return compare_confidences(rows, signals, "rule", others, RESAMPLING, TESTS).set_index("source")


def test_measures_by_hand():
    table = compare(four())
    rule = table.loc["rule"]
    # wrong: .5 and the refusal's 0, so R_O = .75; right: 1 and .5, so R_U = .75
    assert (rule["R_O"], rule["R_U"], rule["HMR"], rule["accuracy"], rule["accHMR"]) == (0.75, 0.75, 0.75, 0.5, 0.375)
    # (0 + .25 + 0 + .25) / 4; of four pairs of right and wrong three are in order, one is tied
    assert (rule["Brier"], rule["AUROC"]) == (0.125, 0.875)
    assert tuple(rule[["n", "n_missing", "n_refused", "n_right"]]) == (4, 0, 1, 2)
    assert pd.isna(rule["HMR_difference"]) and pd.isna(rule["HMR_p"])


def test_refusals_have_0_in_every_source():
    _, sources = sources_of(pd.concat([four(), four("judge", [0.9] * 4)]), SIGNALS, "rule", OTHERS)
    assert all(stated[2] == 0 for stated in sources.values())
    assert list(sources["always-100"]) == [1, 1, 0, 1]


def test_another_runs_confidence_counts_only_for_the_same_answer():
    judge = four("judge", [0.9, 0.8, 0.7, 0.6], answers=["1", "2", None, "5"])
    _, sources = sources_of(pd.concat([four(), judge, four("other", [0.1] * 4)]), SIGNALS, "rule", OTHERS)
    # "two" is "2"; "5" is not "4"
    np.testing.assert_array_equal(sources["judge"], [0.9, 0.8, 0, np.nan])
    assert "other" not in sources


def test_the_confidence_of_the_pass_is_missing_where_it_was_not_filed():
    row = compare(four()).loc[FILED]
    assert (row["n"], row["n_missing"]) == (3, 1) and pd.isna(row["rank"])
    # on a, c and d: the rule has R_O 1 and R_U .75, the pass R_O 1 and R_U .55
    assert row["HMR_difference"] == pytest.approx(2 * 0.55 / 1.55 - 2 * 0.75 / 1.75)


def test_a_source_without_any_confidence_has_a_row_and_no_measures():
    row = compare(four(answers=["1", "2", "3", "4"]), SIGNALS.assign(filed_confidence=np.nan)).loc[FILED]
    assert row["n"] == 0 and row["n_missing"] == 4 and row[list(COLUMNS[5:])].isna().all()


def test_missing_questions_and_right_refusals_do_not_count():
    rows = four(missing=[False, True, False, False], supported=[True, True, False, True])
    answers, sources = sources_of(rows, SIGNALS, "rule", OTHERS)
    assert list(answers["qid"]) == ["a", "d"] and list(sources["rule"]) == [1.0, 0.5]


def test_a_studied_run_that_was_not_filed_has_a_row_in_which_all_is_missing():
    table = compare(pd.concat([four("AC-1"), four("judge")]))
    assert list(table.index) == ["rule"]
    row = table.loc["rule"]
    assert tuple(row[["n", "n_missing"]]) == (0, 4) and row[list(COLUMNS[5:])].isna().all()


def test_refusals_alone_give_no_source_a_measure():
    rows = pd.concat([four(), four("judge", answers=["9", "9", None, "9"])])
    table = compare(rows, SIGNALS.assign(filed_confidence=np.nan))
    for source in (FILED, "judge"):
        assert tuple(table.loc[source, ["n", "n_missing"]]) == (0, 4) and pd.isna(table.loc[source, "HMR"])
    # but one who refuses throughout is sure of nothing
    silent = compare(four(answers=[None] * 4, right=[False] * 4, stated=[0.0] * 4), SIGNALS[:0])
    assert silent.loc["rule", "n"] == 4 and silent.loc[FILED, "n"] == 0


def test_ranks_and_whether_a_source_is_beyond_the_next():
    n = 60
    right = np.arange(n) % 2 == 0
    knows, nearly = np.where(right, 1.0, 0.0), np.where(right, 0.99, 0.0)
    columns = dict(qids=[f"q{i}" for i in range(n)], answers=["x"] * n, right=right)
    rows = pd.concat([scored("rule", stated=np.full(n, 0.4), **columns), scored("judge", stated=knows, **columns)])
    signals = pd.DataFrame({"qid": columns["qids"], "filed_confidence": nearly})
    table = compare(rows, signals)
    assert list(table.index[:4]) == ["judge", FILED, "constant-50", "rule"]
    # of the two best the first is always a little better, so that no noise parts them
    assert list(table["beyond_next"][:2]) == [True, True] and table["beyond_next"].iloc[-1] is None
    # both constants get nothing: equal ranks, and neither is beyond the other
    assert set(table["rank"][-2:]) == {5} and table["beyond_next"].iloc[-2] is False
    assert table.loc["judge", "accHMR_p"] == 0 and table.loc["judge", "accHMR_difference_low"] > 0


def test_intervals_and_p_are_those_of_plain_loops():
    n = 40
    draw = np.random.default_rng(5)
    right = draw.random(n) < 0.5
    rule, judge = draw.random(n).round(1), (0.3 * right + 0.7 * draw.random(n)).round(1)
    columns = dict(qids=[f"q{i}" for i in range(n)], answers=["x"] * n, right=right)
    rows = pd.concat([scored("rule", stated=rule, **columns), scored("judge", stated=judge, **columns)])
    row = compare(rows, pd.DataFrame({"qid": [], "filed_confidence": []})).loc["judge"]

    index = np.random.default_rng(13).integers(0, n, size=(400, n), dtype=np.int32)
    found = [HMR(judge[draw], right[draw]) - HMR(rule[draw], right[draw]) for draw in index]
    assert row["HMR_difference"] == pytest.approx(HMR(judge, right) - HMR(rule, right))
    assert [row["HMR_difference_low"], row["HMR_difference_high"]] == pytest.approx(np.quantile(found, [0.025, 0.975]))
    swap = np.random.default_rng(3).random((4000, n)) < 0.5
    exchanged = [HMR(np.where(s, rule, judge), right) - HMR(np.where(s, judge, rule), right) for s in swap]
    p = np.mean(np.abs(exchanged) >= abs(row["HMR_difference"]) - 1e-12)
    assert row["HMR_p"] == pytest.approx(p, abs=0.06)


@pytest.fixture
def study(tmp_path):
    """The files of a system whose confidence was fitted, with a refusal."""
    frame = labelled(60)
    fit = cross_fit(as_signals(frame), SETTINGS)
    columns = dict(qids=[*frame["qid"], "r"], answers=[*frame["answer"], None], right=[*frame["right"], False])
    runs = {"rule": frame["confidence"]} | fit.confidences
    rows = pd.concat(scored(run, stated=[*stated, 0.0], **columns) for run, stated in runs.items())
    frame.to_csv(tmp_path / "signals.csv", index=False)
    fit.folds.to_csv(tmp_path / "folds.csv", index=False)
    return rows, tmp_path / "signals.csv", tmp_path / "folds.csv"


def tabulated(rows, signals, folds):
    return compare_systems(rows, [signals], [folds], "rule", OTHERS, RESAMPLING, TESTS)


def test_a_system_is_compared_from_its_files(study):
    table = tabulated(*study)
    assert list(table.columns) == ["collection", "system", *COLUMNS]
    assert set(fitted_runs(SETTINGS)) < set(table["source"]) and (table["n"] == 61).all()
    assert table["source"].iloc[0].endswith("-sharp")


def test_a_question_in_two_folds_stops_the_table(study):
    rows, signals, folds = study
    frame = pd.read_csv(folds)
    pd.concat([frame, frame.iloc[:1].assign(fold=frame["fold"].iloc[0] % 4 + 1)]).to_csv(folds, index=False)
    with pytest.raises(LeakError, match="must have one fold"):
        tabulated(rows, signals, folds)
    # question 8 is asked twice
    frame.assign(fold=frame["fold"].where(frame["qid"] != "q009", frame["fold"] % 4 + 1)).to_csv(folds, index=False)
    with pytest.raises(LeakError, match="equal questions must share a fold .*question 8"):
        tabulated(rows, signals, folds)
    frame.iloc[1:].to_csv(folds, index=False)
    with pytest.raises(LeakError, match="must have a fold .*q000"):
        tabulated(rows, signals, folds)
