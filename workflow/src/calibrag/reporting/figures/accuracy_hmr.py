"""Accuracy against HMR of answer runs, over curves of equal accHMR and the level HMR = .5."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from calibrag.reporting.figures import style
from calibrag.reporting.figures.labels import place_labels

MOST_LABELS = 18
"""Runs of a panel that are all named; of more, as many of the highest accHMR, and the arrows of the first system."""

MOST_BARS = 6
"""Runs of a panel whose intervals are drawn."""


def draw_accuracy_hmr(
    table: pd.DataFrame, arrows: Sequence[Sequence[str]], svg_path: str | Path, png_path: str | Path, title: str
) -> None:
    """Draw accuracy against HMR, one panel a collection, with arrows from run to run of a system.

    Parameters
    ----------
    table
        The table of answer runs: collection, system, run, accuracy, HMR, accHMR. Where ``accuracy_low``,
        ``accuracy_high``, ``HMR_low`` and ``HMR_high`` are there too, thin bars show them if the runs are few. A run
        without accuracy or HMR is left out, and said so below its panel.
    arrows
        Pairs of runs, from and to; where a system lacks one of them there is no arrow.
    svg_path, png_path
        Files to write; missing folders are made.
    title
        Stands over the panels.

    Raises
    ------
    ValueError
        There is no row at all.
    """
    if table.empty:
        raise ValueError("the table must hold at least one run (got none)")
    with style.settings():
        style.save(_figure(table.assign(label=_labels(table)), arrows, title), svg_path, png_path)


def _labels(table: pd.DataFrame) -> list[str]:
    """Return the label of each row: the run, and the system where it is not the first of the collection."""
    first = table.groupby("collection")["system"].transform("first")
    return [
        run if system == own else f"{run} ({system})"
        for run, system, own in zip(table["run"], table["system"], first, strict=True)
    ]


def _figure(table: pd.DataFrame, arrows: Sequence[Sequence[str]], title: str) -> Figure:
    groups, left = style.shown_panels(table["collection"])
    table = table[table["collection"].isin(groups)]
    styles = style.styles(table["run"])
    limits = {"xlim": _limits(table, "accuracy", None), "ylim": _limits(table, "HMR", 0.5)}
    figure, axes = style.grid(len(groups), 4.3, 4.3, sharex=True, sharey=True)
    style.title(figure, title)
    panels = {group: table[table["collection"] == group] for group in groups}
    for axis, group in zip(axes, groups, strict=True):
        axis.set(**limits, xlabel="accuracy")
        axis.set_title(group, fontsize=10, pad=16, loc="left")
        _draw_levels(axis)
    for axis in axes[:: style.ACROSS]:
        axis.set_ylabel("HMR (harmonic mean of R_O and R_U)")
    sizes = [len(rows) for rows in panels.values()]
    known = [pair for pair in arrows if set(pair) <= set(table["run"])]
    style.note(
        figure,
        "Grey curves: equal accHMR = accuracy × HMR, named at their ends. Dashed line: HMR .5, the most that one "
        "constant confidence reaches.",
        "Thin bars: intervals." if min(sizes) <= MOST_BARS and "HMR_low" in table else "",
        f"Named where runs are many: the {MOST_LABELS} of the highest accHMR." if max(sizes) > MOST_LABELS else "",
        f"Arrows: {'; '.join(f'{start} to {end}' for start, end in known)}, of one system." if known else "",
        left,
    )
    # labels are placed by their drawn size, so the layout has to be final first
    FigureCanvasAgg(figure).draw()
    figure.set_layout_engine("none")
    for axis, group in zip(axes, groups, strict=True):
        _draw_runs(axis, panels[group], arrows, styles)
    return figure


def _limits(table: pd.DataFrame, column: str, included: float | None) -> tuple[float, float]:
    """Return limits in tenths inside [0, 1] with room around all points, at least .4 wide."""
    columns = [name for name in (column, f"{column}_low", f"{column}_high") if name in table]
    values = table[columns].astype(float).stack().to_numpy()
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
    style.tick_shortly(axis.xaxis, axis.yaxis)
    x = np.linspace(max(left, 1e-3), right, 400)
    for level in np.arange(0.1, 1.0, 0.1):
        axis.plot(x, level / x, color=style.FAINT, linewidth=0.7, zorder=0)
        text, look = f"{level:.1f}".lstrip("0"), {"color": "0.4", "fontsize": 7.5, "annotation_clip": False}
        # named where the curve leaves the panel, outside, so that no label covers a point
        if bottom < level / right < top:
            axis.annotate(text, (right, level / right), (3, 0), textcoords="offset points", va="center", **look)
        elif left < level / top < right - 0.01:
            axis.annotate(text, (level / top, top), (0, 2), textcoords="offset points", ha="center", **look)


def _draw_runs(axis: Axes, rows: pd.DataFrame, arrows: Sequence[Sequence[str]], styles: dict[str, style.Style]) -> None:
    known = rows.dropna(subset=["accuracy", "HMR"])
    if absent := list(rows["label"][~rows.index.isin(known.index)]):
        text = "no value: " + ", ".join(absent)
        axis.text(0.01, 0.01, text, transform=axis.transAxes, fontsize=7, color=style.SOFT)
    crowded = len(known) > MOST_LABELS
    lines = [np.array([(axis.get_xlim()[0], 0.5), (axis.get_xlim()[1], 0.5)])]
    if len(known) <= MOST_BARS and "HMR_low" in known:
        lines += _draw_bars(axis, known, styles)
    _draw_arrows(axis, known[known["system"] == known["system"].iloc[0]] if crowded else known, arrows)
    for run, x, y in zip(known["run"], known["accuracy"], known["HMR"], strict=True):
        colour, marker, _ = styles[run]
        axis.plot(
            x, y, marker, color=colour, markersize=6.5, markeredgecolor="white", markeredgewidth=0.7, zorder=4,
            clip_on=False,
        )  # fmt: skip
    named = known.nlargest(MOST_LABELS, "accHMR").sort_index() if crowded else known
    points = _by_place(named)
    place_labels(
        axis,
        points[["accuracy", "HMR"]].to_numpy(float),
        list(points["label"]),
        [_darker(styles[run].colour) for run in points["run"]],
        lines,
        fontsize=7.5 if len(points) > 8 else 8.5,
        path_effects=[patheffects.withStroke(linewidth=2.5, foreground="white")],
    )


def _by_place(named: pd.DataFrame) -> pd.DataFrame:
    """Return one row a place, its runs' labels in one: equal runs would hide each other."""
    places = named.groupby([named["accuracy"].round(6), named["HMR"].round(6)], sort=False)
    joined = places.agg(
        accuracy=("accuracy", "first"), HMR=("HMR", "first"), run=("run", "first"), label=("label", _joined)
    )
    return joined.reset_index(drop=True)


def _joined(labels: Sequence[str]) -> str:
    return (",\n" if sum(map(len, labels)) > 24 else ", ").join(labels)


def _draw_bars(axis: Axes, known: pd.DataFrame, styles: dict[str, style.Style]) -> list[np.ndarray]:
    drawn = []
    for row in known.to_dict("records"):
        x, y = row["accuracy"], row["HMR"]
        bars = [[(row["accuracy_low"], y), (row["accuracy_high"], y)], [(x, row["HMR_low"]), (x, row["HMR_high"])]]
        for bar in (bar for bar in map(np.array, bars) if not np.isnan(bar.astype(float)).any()):
            axis.plot(bar[:, 0], bar[:, 1], color=styles[row["run"]].colour, linewidth=1.0, alpha=0.35, zorder=2)
            drawn.append(bar)
    return drawn


def _draw_arrows(axis: Axes, known: pd.DataFrame, arrows: Sequence[Sequence[str]]) -> None:
    look = {"arrowstyle": "-|>", "color": "0.4", "linewidth": 1.0, "shrinkA": 5, "shrinkB": 5, "mutation_scale": 9}
    for _, runs in known.groupby("system", sort=False):
        places = {run: (x, y) for run, x, y in zip(runs["run"], runs["accuracy"], runs["HMR"], strict=True)}
        for start, end in arrows:
            if start in places and end in places and places[start] != places[end]:
                bent = look | {"connectionstyle": "arc3,rad=0.18"}
                axis.annotate("", places[end], places[start], arrowprops=bent, zorder=3)


def _darker(colour: str) -> tuple[float, ...]:
    # small text needs more contrast on white than a marker
    return tuple(0.65 * channel for channel in to_rgb(colour))
