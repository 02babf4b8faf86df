"""Figures: the same bytes for the same data, no covered labels, no formula or date from a name."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from calibrag.reporting.figures import accuracy_hmr
from calibrag.reporting.labels import place_labels

POINTS = pd.DataFrame(
    {
        "group": ["film", "film", "open $", "open $"],
        "label": ["AC-1", "AC-2", "AC-1", "$\\frac{"],
        "accuracy": [0.31, 0.32, 0.2, None],
        "hmr": [0.5, 0.52, 0.0, None],
    }
)


def drawn(points, folder):
    accuracy_hmr(points, folder / "f.svg", folder / "f.png", "Accuracy against HMR")
    return (folder / "f.svg").read_bytes(), (folder / "f.png").read_bytes()


def test_same_data_gives_same_bytes(tmp_path):
    svg, png = drawn(POINTS, tmp_path / "one")
    assert (svg, png) == drawn(POINTS, tmp_path / "two")
    assert b"<dc:date>" not in svg
    assert png.startswith(b"\x89PNG")


def test_other_data_gives_another_picture(tmp_path):
    assert drawn(POINTS, tmp_path / "one") != drawn(POINTS.assign(hmr=[0.5, 0.52, 0.3, None]), tmp_path / "two")


def test_intervals_with_gaps_are_drawn(tmp_path):
    bars = POINTS.assign(accuracy_low=0.1, accuracy_high=0.4, hmr_low=[0.4, 0.4, None, None], hmr_high=0.6)
    assert drawn(bars, tmp_path / "one") != drawn(POINTS, tmp_path / "two")


def test_no_runs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at least one run"):
        drawn(POINTS[:0], tmp_path)


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
