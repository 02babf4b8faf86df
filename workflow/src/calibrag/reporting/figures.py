"""Figures as SVG and PNG, the same bytes for the same data, legible without colour."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from calibrag.reporting.labels import place_labels

OKABE_ITO = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
"""Colours that stay apart under every common colour blindness (Okabe and Ito; yellow left out, too pale)."""
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]

_GREY = "0.72"
_SETTINGS = {
    # ids in an SVG are random without a salt; text as paths looks alike wherever it is opened
    "svg.hashsalt": "calibrag",
    "svg.fonttype": "path",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    # a name is text: without this, $ would start a formula
    "text.parse_math": False,
}


def accuracy_hmr(points: pd.DataFrame, svg_path: str | Path, png_path: str | Path, title: str) -> None:
    """Draw accuracy against HMR, one panel a group, over curves of equal accHMR and the level HMR = .5.

    Parameters
    ----------
    points
        Columns group (panel, such as a collection), label (run), accuracy, hmr; in the order wanted. Where
        ``accuracy_low``, ``accuracy_high``, ``hmr_low`` and ``hmr_high`` are there too, thin bars show them. A
        row without accuracy or HMR is left out, and said so below the panel.
    svg_path, png_path
        Files to write; missing folders are made.
    title
        Stands over the panels.

    Raises
    ------
    ValueError
        There is no row at all.
    """
    if points.empty:
        raise ValueError("points must hold at least one run (got none)")
    groups = list(dict.fromkeys(points["group"]))
    names = list(dict.fromkeys(points["label"]))
    styles = {
        name: (OKABE_ITO[i % len(OKABE_ITO)], MARKERS[(i + i // len(OKABE_ITO)) % len(MARKERS)])
        for i, name in enumerate(names)
    }
    x_limits, y_limits = _limits(points, "accuracy", None), _limits(points, "hmr", 0.5)
    bars = " Thin bars: intervals." if "hmr_low" in points else ""
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(0.6 + 4.3 * len(groups), 4.6), dpi=200, layout="constrained")
        figure.suptitle(title, fontsize=11, x=0.01, ha="left")
        axes = figure.subplots(1, len(groups), sharex=True, sharey=True, squeeze=False)[0]
        for axis, group in zip(axes, groups, strict=True):
            axis.set(xlim=x_limits, ylim=y_limits, xlabel="accuracy")
            axis.tick_params(labelleft=True)
            axis.set_title(group, fontsize=10, pad=16, loc="left")
            _draw_levels(axis)
        axes[0].set_ylabel("HMR (harmonic mean of R_O and R_U)")
        figure.supxlabel(
            "Grey curves: equal accHMR = accuracy × HMR, named at their ends.\n"
            "Dashed line: HMR .5, the most that one constant confidence reaches." + bars,
            fontsize=7.5, color="0.35", x=0.01, ha="left",
        )  # fmt: skip
        # labels are placed by their drawn size, so the layout has to be final first
        FigureCanvasAgg(figure).draw()
        figure.set_layout_engine("none")
        for axis, group in zip(axes, groups, strict=True):
            _draw_points(axis, points[points["group"] == group], styles)
        _save(figure, Path(svg_path), Path(png_path))


def _limits(points: pd.DataFrame, column: str, included: float | None) -> tuple[float, float]:
    """Return limits in tenths inside [0, 1] with room around all points, at least .4 wide."""
    columns = [name for name in (column, f"{column}_low", f"{column}_high") if name in points]
    values = points[columns].astype(float).stack().to_numpy()
    values = values[~np.isnan(values)]
    if included is not None or len(values) == 0:
        values = np.append(values, 0.5 if included is None else included)
    low = max(0.0, np.floor(10 * (values.min() - 0.03)) / 10)
    high = min(1.0, np.ceil(10 * (values.max() + 0.03)) / 10)
    while high - low < 0.4 - 1e-9:
        low, high = max(0.0, low - 0.1), min(1.0, high + 0.1)
    # a point on the very edge would be cut in half
    return low - 0.02 * (low == 0), high + 0.02 * (high == 1)


def _draw_levels(axis: Axes) -> None:
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    axis.axhline(0.5, color="0.25", linewidth=0.9, linestyle=(0, (5, 4)), zorder=1)
    for ticks in (axis.xaxis, axis.yaxis):
        ticks.set_major_locator(MultipleLocator(0.1))
        ticks.set_major_formatter(
            lambda value, _: "1" if value > 0.99 else f"{value:.1f}".lstrip("0").replace(".0", "0")
        )
    x = np.linspace(max(left, 1e-3), right, 400)
    for level in np.arange(0.1, 1.0, 0.1):
        axis.plot(x, level / x, color=_GREY, linewidth=0.7, zorder=0)
        text, style = f"{level:.1f}".lstrip("0"), {"color": "0.4", "fontsize": 7.5, "annotation_clip": False}
        # named where the curve leaves the panel, outside, so that no label covers a point
        if bottom < level / right < top:
            axis.annotate(text, (right, level / right), (3, 0), textcoords="offset points", va="center", **style)
        elif left < level / top < right - 0.01:
            axis.annotate(text, (level / top, top), (0, 2), textcoords="offset points", ha="center", **style)


def _draw_points(axis: Axes, rows: pd.DataFrame, styles: dict[str, tuple[str, str]]) -> None:
    known = rows.dropna(subset=["accuracy", "hmr"])
    if absent := list(rows["label"][~rows.index.isin(known.index)]):
        text = "no value: " + ", ".join(absent)
        axis.text(0.01, 0.01, text, transform=axis.transAxes, fontsize=7, color="0.35")
    lines = [np.array([(axis.get_xlim()[0], 0.5), (axis.get_xlim()[1], 0.5)])]
    for row in known.to_dict("records"):
        colour, marker = styles[row["label"]]
        x, y = row["accuracy"], row["hmr"]
        if "hmr_low" in row:
            bars = [[(row["accuracy_low"], y), (row["accuracy_high"], y)], [(x, row["hmr_low"]), (x, row["hmr_high"])]]
            for bar in (bar for bar in map(np.array, bars) if not np.isnan(bar.astype(float)).any()):
                axis.plot(bar[:, 0], bar[:, 1], color=colour, linewidth=1.0, alpha=0.35, zorder=2)
                lines.append(bar)
        axis.plot(
            x, y, marker, color=colour, markersize=6.5, markeredgecolor="white", markeredgewidth=0.7, zorder=4,
            clip_on=False,
        )  # fmt: skip
    place_labels(
        axis,
        known[["accuracy", "hmr"]].to_numpy(float),
        list(known["label"]),
        [_darker(styles[label][0]) for label in known["label"]],
        lines,
        fontsize=8.5,
        path_effects=[patheffects.withStroke(linewidth=2.5, foreground="white")],
    )


def _darker(colour: str) -> tuple[float, ...]:
    # small text needs more contrast on white than a marker
    return tuple(0.65 * channel for channel in to_rgb(colour))


def _save(figure: Figure, svg_path: Path, png_path: Path) -> None:
    for path in (svg_path, png_path):
        path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(svg_path, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(png_path, format="png", metadata={"Software": None})
