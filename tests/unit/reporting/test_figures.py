"""Figures: the same bytes for the same data, no covered labels, no formula or date from a name."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scored_runs import MEASURES, RESAMPLING, one_run, scores, signals

from calibrag.errors import CalibragError
from calibrag.evaluation.answer_measures import parse_measures
from calibrag.evaluation.answer_summary import answers_of
from calibrag.reporting import answer_tables
from calibrag.reporting.figures import style
from calibrag.reporting.figures.accuracy_hmr import MOST_LABELS, draw_accuracy_hmr
from calibrag.reporting.figures.calibration import draw_reliability, draw_risk_coverage
from calibrag.reporting.figures.labels import place_labels
from calibrag.reporting.figures.signals import draw_signal_auroc
from calibrag.reporting.figures.types import differences_by_type, draw_type_bars

COLLECTIONS = {"film": (60, 2 / 60), "open_$": (40, 0.3)}
SCORES = scores(COLLECTIONS)
SIGNALS = signals(COLLECTIONS)
RUNS = ["AC-1", "four-pass", "model-as-judge"]
ARROWS = [["AC-2", "four-pass"], ["four-pass", "of_nobody"]]
POINTS = pd.DataFrame(
    {
        "collection": ["film", "film", "open $", "open $"],
        "system": "bitem",
        "run": ["AC-2", "four-pass", "AC-2", "$\\frac{"],
        "accuracy": [0.31, 0.32, 0.2, None],
        "HMR": [0.5, 0.52, 0.0, None],
        "accHMR": [0.155, 0.1664, 0.0, None],
    }
)
BARS = pd.DataFrame(
    {
        "group": "film",
        "of": "accHMR: $a_ less b",
        "type": ["bridge", "set"],
        "n": [40, 3],
        "value": [0.1, np.nan],
        "low": [-0.02, np.nan],
        "high": [0.2, np.nan],
    }
)
DRAWN = {
    "accuracy_hmr": lambda *files: draw_accuracy_hmr(POINTS, ARROWS, *files, "Title $_"),
    "reliability": lambda *files: draw_reliability(SCORES, RUNS, 10, "mass", "present", *files, "Title $_"),
    "risk_coverage": lambda *files: draw_risk_coverage(SCORES, RUNS, "present", *files, "Title $_"),
    "signal_auroc": lambda *files: draw_signal_auroc(SIGNALS, *files, "Title $_"),
    "type_bars": lambda *files: draw_type_bars(BARS, *files, "Title $_"),
}


def saved(draw, folder):
    draw(folder / "f.svg", folder / "f.png")
    return (folder / "f.svg").read_bytes(), (folder / "f.png").read_bytes()


def drawn(points, folder):
    return saved(lambda *files: draw_accuracy_hmr(points, ARROWS, *files, "Accuracy against HMR"), folder)


@pytest.mark.parametrize("name", DRAWN)
def test_same_data_gives_same_bytes(name, tmp_path):
    svg, png = saved(DRAWN[name], tmp_path / "one")
    assert (svg, png) == saved(DRAWN[name], tmp_path / "two")
    assert b"<dc:date>" not in svg
    assert png.startswith(b"\x89PNG")


def test_other_data_gives_another_picture(tmp_path):
    assert drawn(POINTS, tmp_path / "one") != drawn(POINTS.assign(HMR=[0.5, 0.52, 0.3, None]), tmp_path / "two")


def test_intervals_with_gaps_are_drawn(tmp_path):
    bars = POINTS.assign(accuracy_low=0.1, accuracy_high=0.4, HMR_low=[0.4, 0.4, None, None], HMR_high=0.6)
    assert drawn(bars, tmp_path / "one") != drawn(POINTS, tmp_path / "two")


def test_no_runs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at least one run"):
        drawn(POINTS[:0], tmp_path)
    with pytest.raises(CalibragError, match="found AC-1, AC-2"):
        draw_risk_coverage(SCORES, ["nobody's"], "present", tmp_path / "a.svg", tmp_path / "a.png", "x")


@pytest.fixture
def figures(monkeypatch):
    """Collect the figures that are saved."""
    kept = []
    monkeypatch.setattr(style, "save", lambda figure, *files: kept.append(figure))
    return kept


def texts(axis: Axes) -> list[str]:
    return [text.get_text() for text in axis.texts]


def notes(figure: Figure) -> str:
    return " ".join(figure._supxlabel.get_text().split())


def test_equal_runs_share_a_label_and_the_unknown_ones_are_named(figures):
    table = pd.concat([POINTS, POINTS[1:2].assign(run="fitted")], ignore_index=True)
    draw_accuracy_hmr(table, ARROWS, "", "", "x")
    film, other = figures[0].axes[:2]
    assert "four-pass, fitted" in texts(film)
    assert "no value: $\\frac{" in texts(other)


def test_arrows_join_runs_of_one_system_alone(figures):
    table = pd.concat([POINTS[:1], POINTS[1:2].assign(system="other")], ignore_index=True)
    draw_accuracy_hmr(table, ARROWS, "", "", "x")
    draw_accuracy_hmr(POINTS[:2], ARROWS, "", "", "x")
    arrows = [[text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None)] for figure in figures]
    assert [len(found) for found in arrows] == [0, 1]
    # from the first to the second
    assert arrows[1][0].xyann == (0.31, 0.5) and arrows[1][0].xy == (0.32, 0.52)
    assert "four-pass (other)" in texts(figures[0].axes[0])


def test_of_many_runs_the_best_are_named(figures):
    places = np.linspace(0.2, 0.8, 40)
    many = pd.DataFrame(
        {
            "collection": "film", "system": [f"s{i}" for i in range(40)], "run": "AC-1",
            "accuracy": places, "HMR": 0.6, "accHMR": 0.6 * places,
        }
    )  # fmt: skip
    draw_accuracy_hmr(many, ARROWS, "", "", "x")
    [axis] = figures[0].axes
    named = [text for text in texts(axis) if text.startswith("AC-1")]
    assert len(named) == MOST_LABELS and "AC-1 (s39)" in named and "AC-1" not in named
    assert f"the {MOST_LABELS} of the highest accHMR" in notes(figures[0])


def test_the_legend_of_reliability_has_the_ece_of_the_tables(figures):
    draw_reliability(SCORES, RUNS, 10, "width", "present", "", "", "x")
    [measure] = parse_measures(["ECE@10"])
    for axis, collection in zip(figures[0].axes, COLLECTIONS, strict=True):
        shown = [text.get_text() for text in axis.get_legend().get_texts()]
        for run in RUNS[:2]:
            rows = SCORES[(SCORES["collection"] == collection) & (SCORES["run"] == run)]
            ece = float(measure.of(answers_of(rows, "present")))
            assert f"{run}, {ece:.2f}".replace("0.", ".") in shown
    assert "Of no system: model-as-judge." in notes(figures[0])


def test_a_tie_is_drawn_as_the_expectation_over_its_orders(figures):
    # surest first: one right, then a right and a wrong one in either order
    rows = one_run("film", "bitem", "AC-1", np.array([True, True, False]), np.array([0.9, 0.5, 0.5]))
    draw_risk_coverage(rows, ["AC-1"], "present", "", "", "x")
    axis = figures[0].axes[0]
    curve = next(line for line in axis.lines if len(line.get_xdata()) == 3)
    assert list(curve.get_xdata()) == pytest.approx([1 / 3, 2 / 3, 1])
    assert list(curve.get_ydata()) == pytest.approx([0, (0 + 1 / 2) / 2, 1 / 3])
    level = next(line for line in axis.lines if line is not curve)
    assert set(level.get_ydata()) == {round(1 / 3, 3)}
    # mean of the curve
    assert axis.get_legend().get_texts()[0].get_text() == "AC-1, .19"


def test_a_run_without_a_filed_answer_draws_nothing(figures):
    none = one_run("film", "bitem", "AC-1", np.zeros(3, bool), np.full(3, np.nan)).assign(missing=True, answer=None)
    draw_reliability(none, ["AC-1"], 10, "mass", "present", "", "", "x")
    draw_risk_coverage(none, ["AC-1"], "present", "", "", "x")
    for figure in figures:
        assert figure.axes[0].get_title(loc="left") == "film (no answer)"


def test_signals_stand_in_the_order_of_what_they_tell_and_silent_ones_are_named(figures):
    table = SIGNALS.assign(auroc=[0.52, 0.1, 0.7, None] * 2, auroc_low=0.05, auroc_high=0.9)
    draw_signal_auroc(table, "", "", "x")
    axis = figures[0].axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["passes agreeing", "entropy", "searches"]
    assert "Without a value anywhere: nothing." in notes(figures[0])
    assert axis.get_title(loc="left") == "film\n2 of 60 right"


def test_systems_have_panels_of_their_own_and_more_than_nine_are_named(figures):
    table = signals({f"c{i}": (20, 0.5) for i in range(6)}, systems=("a", "b"))
    draw_signal_auroc(table, "", "", "x")
    assert figures[0].axes[0].get_title(loc="left").startswith("c0, a\n")
    assert "Not drawn, 3 more: c4, b, c5, a, c5, b." in notes(figures[0])


def test_types_have_their_difference_by_measure():
    compared = {"measures": ["accuracy", "accHMR"], "reference": "AC-1", "by_type": "four-pass"}
    table = answer_tables.compare_types(SCORES, compared, "present", RESAMPLING, {"trials": 100, "seed": 1})
    bars = differences_by_type([table], ["accHMR", "nDCG@20"])
    assert set(bars["of"]) == {"accHMR: four-pass less AC-1"}
    assert list(bars["type"]) == ["bridge", "comparison", "multi-hop"] * 2
    assert (bars["low"] <= bars["value"]).all() and (bars["value"] <= bars["high"]).all()


def test_a_figure_of_no_types_says_so(figures):
    draw_type_bars(BARS[:0], "", "", "x")
    assert notes(figures[0]) == "No system has both runs."


def test_the_table_of_answer_runs_is_drawn_as_it_is(figures):
    table = answer_tables.summarise_answers(SCORES, MEASURES, "present", RESAMPLING)
    draw_accuracy_hmr(table, ARROWS, "", "", "x")
    assert len(figures[0].axes) == 2


def labelled(xy, labels):
    figure = Figure(figsize=(5, 5), dpi=100)
    canvas = FigureCanvasAgg(figure)
    axis = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axis.set(xlim=(0, 1), ylim=(0, 1))
    texts = place_labels(axis, xy, labels, ["k"] * len(labels), [], fontsize=8)
    canvas.draw()
    return axis, [text.get_window_extent() for text in texts]


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_crowded_points_cover_neither_each_other_nor_a_point(seed):
    rng = np.random.default_rng(seed)
    xy = 0.5 + 0.06 * rng.standard_normal((8, 2))
    axis, boxes = labelled(xy, [f"AC-{i} no-dense" for i in range(8)])
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for centre in axis.transData.transform(xy):
        assert not any(box.contains(*centre) for box in boxes)


def test_labels_stay_inside_the_panel():
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    axis, boxes = labelled(corners, ["a long label"] * 4)
    panel = axis.get_window_extent()
    for box in boxes:
        assert box.x0 >= panel.x0 - 1 and box.x1 <= panel.x1 + 1
        assert box.y0 >= panel.y0 - 1 and box.y1 <= panel.y1 + 1
