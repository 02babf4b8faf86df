"""Names of measures parse back, wrong ones are refused with the nearest, and each measure is what its name says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrag.errors import CalibragError
from calibrag.evaluation import calibration, confidence
from calibrag.evaluation.answer_measures import NAMES, Answers, describe_measures, parse_measure, parse_measures

C = np.array([0.9, 0.2, 0.6, 0.6])
RIGHT = np.array([True, False, True, False])
SPELLINGS = [
    *NAMES, "ECE@15", "ECE(bins=15,binning=mass)", "ECE(binning=width)@3", "accHMR(unsupported=leave_out)",
    "R_U( unsupported = count )",
]  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_name_parses_back(name):
    measure = parse_measure(name)
    assert str(measure) == name
    assert parse_measure(str(measure)) == measure


def test_spellings_of_one_measure_are_equal_and_named_once():
    assert parse_measure("ECE@10") == parse_measure("ECE(bins=10,binning=width)") == parse_measure("ECE")
    assert parse_measure("ECE@10") != parse_measure("ECE@11")
    assert parse_measures(["HMR", "ECE@10", "ECE@11"]) == [parse_measure(name) for name in ("HMR", "ECE", "ECE@11")]
    with pytest.raises(CalibragError, match="'ECE@10' is the measure 'ECE': name it once"):
        parse_measures(["ECE", "ECE@10"])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("AUROK", "did you mean 'AUROC'"),
        ("accuracies", "did you mean 'accuracy'"),
        ("nDCG@20", "is no measure of answers"),
        ("", "is no measure of answers"),
        ("ECE(10)", "no parameter '10'"),
        ("ECE(bin=10)", "did you mean 'bins'"),
        ("ECE(bins=0)", "bins must be one of: whole numbers from 1 on"),
        ("ECE(binning=weight)", "binning must be one of: width, mass"),
        ("ECE(bins=10)@10", "bins is given 2 times"),
        ("ECE@x", "got 'x'"),
        ("AUROC@5", "takes nothing behind @"),
        ("AUROC(bins=5)", "it takes none"),
        ("HMR(unsupported=no)", "count, leave_out"),
        ("HMR(", "is no measure"),
    ],
)
def test_a_wrong_name_is_refused_with_what_is_legal(name, problem):
    with pytest.raises(CalibragError, match=problem.replace("(", r"\(")):
        parse_measure(name)


def test_a_measure_is_the_function_of_its_name():
    tally = calibration.tally(C, RIGHT)
    expected = {
        "accuracy": 0.5, "R_O": 0.6, "R_U": 0.75, "HMR": confidence.harmonic_mean(0.6, 0.75),
        "accHMR": 0.5 * confidence.harmonic_mean(0.6, 0.75), "OB": 2.3 / 4 - 0.5,
        "AUROC": 3.5 / 4, "Brier": (0.01 + 0.04 + 0.16 + 0.36) / 4, "AURC": calibration.aurc(tally),
        "PRR": calibration.prr(tally), "Spearman": calibration.spearman(tally),
        "ECE@2": (abs(0.2 - 0) + abs(2.1 - 2)) / 4, "ECE(bins=2,binning=mass)": calibration.ece(tally, 2, "mass"),
    }  # fmt: skip
    for name, value in expected.items():
        assert float(parse_measure(name)(C, RIGHT)) == pytest.approx(float(value)), name


def test_what_a_measure_needs_must_be_at_hand():
    for name in ("EM", "F1", "nugget_precision", "HMR(unsupported=leave_out)"):
        with pytest.raises(ValueError, match="not at hand"):
            parse_measure(name)(C, RIGHT)


def test_means_are_over_the_questions_that_count():
    answers = Answers(C, RIGHT, counted=[True, True, False, True], em=[1, 0, 1, 0], f1=[0.5, 0.1, 1, 0])
    assert float(parse_measure("EM").of(answers)) == pytest.approx(1 / 3)
    assert float(parse_measure("F1").of(answers)) == pytest.approx(0.2)
    assert float(parse_measure("accuracy").of(answers)) == pytest.approx(1 / 3)
    assert float(parse_measure("AUROC").of(answers)) == 1


answer = st.tuples(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.booleans(), st.booleans(), st.booleans(), st.booleans())


@given(st.lists(answer, min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_weights_give_what_gathered_answers_give(run, seed):
    c, right, filed, counted, supported = (np.array(column) for column in zip(*run, strict=True))
    right &= filed & supported
    values = np.random.default_rng(seed).random((3, len(run)))
    index = np.random.default_rng(seed).integers(0, len(run), (4, len(run)))
    weights = np.stack([np.bincount(row, minlength=len(run)) for row in index])
    columns = (c, right, filed, counted, supported, *values)
    gathered, weighted = Answers(*(column[index] for column in columns)), Answers(*columns, weights=weights)
    for measure in map(parse_measure, SPELLINGS):
        assert measure.of(weighted) == pytest.approx(measure.of(gathered), nan_ok=True), str(measure)


@given(st.floats(0, 1), st.integers(1, 20), st.integers(1, 20))
def test_one_constant_confidence_gives_hmr_of_2c_1_minus_c_at_any_accuracy(c, right, wrong):
    found = float(parse_measure("HMR")(np.full(right + wrong, c), np.arange(right + wrong) < right))
    assert found == pytest.approx(2 * c * (1 - c)) and found <= 0.5 + 1e-12


@given(st.integers(1, 20))
def test_all_wrong_at_zero_gives_hmr_1_and_acc_hmr_0(n):
    c, right = np.zeros(n), np.zeros(n, bool)
    assert (float(parse_measure("HMR")(c, right)), float(parse_measure("accHMR")(c, right))) == (1, 0)


def test_captions_say_what_the_measures_are():
    text = describe_measures(parse_measures(["accHMR", "OB(unsupported=leave_out)"]))
    assert text.startswith("accHMR: accuracy x HMR; OB(unsupported=leave_out): mean confidence - accuracy, ")
    assert text.endswith("unsupported questions left out.")


def test_without_a_question_that_counts_nothing_is_defined():
    answers = Answers(C, RIGHT, supported=[False] * 4)
    for name in ("accuracy", "R_O", "R_U", "HMR", "accHMR", "OB"):
        assert np.isnan(parse_measure(f"{name}(unsupported=leave_out)").of(answers))
