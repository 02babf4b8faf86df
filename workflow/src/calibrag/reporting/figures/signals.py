"""How well each signal tells right answers from wrong ones: AUROCs with intervals, one below the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibrag.reporting.figures import style


def draw_signal_auroc(table: pd.DataFrame, svg_path: str | Path, png_path: str | Path, title: str) -> None:
    """Draw a forest of AUROCs, one panel a collection and system, one row a signal, the most telling on top.

    Parameters
    ----------
    table
        The table of signals: collection, system, signal, n, n_right, auroc, auroc_low, auroc_high. A signal without an
        AUROC in a panel shows an em dash there; one without any is left out, and named below.
    svg_path, png_path
        Files to write; missing folders are made.
    title
        Stands over the panels.
    """
    with style.settings():
        style.save(_figure(table.assign(panel=style.panel_names(table)), title), svg_path, png_path)


def _figure(table: pd.DataFrame, title: str) -> Figure:
    groups, left = style.shown_panels(table["panel"])
    table = table[table["panel"].isin(groups)]
    told = (table["auroc"].astype(float) - 0.5).abs().groupby(table["signal"], sort=False).mean()
    # equals in the order of the table
    order = list(told.dropna().sort_values(ascending=False, kind="stable").index)
    silent = [name for name in told.index if name not in order]
    height = 1.1 + 0.19 * max(len(order), 3)
    figure, axes = style.grid(len(groups), 3.9, height, sharex=True, sharey=True)
    style.title(figure, title)
    limits = style.span(
        table[["auroc", "auroc_low", "auroc_high"]].astype(float).to_numpy().ravel(), [0.35, 0.65], 0.06
    )
    for axis, group in zip(axes, groups, strict=True):
        rows = table[table["panel"] == group].set_index("signal")
        _draw_panel(axis, rows, order, (max(limits[0], -0.02), min(limits[1], 1.02)))
        most = rows.loc[rows["n"].idxmax()]
        axis.set_title(f"{group}\n{int(most['n_right']):,} of {int(most['n']):,} right", fontsize=10, loc="left")
    style.note(
        figure,
        "Mark and bar: AUROC of right against wrong answers with its interval, as found; right of .5 more of the "
        "signal goes with right answers, left of it with wrong ones. Hollow: the interval holds .5. A dash: no value. "
        "Answers counted: the most that any signal has.",
        f"Without a value anywhere: {', '.join(silent)}." if silent else "",
        left,
    )
    return figure


def _draw_panel(axis: Axes, rows: pd.DataFrame, order: list[str], limits: tuple[float, float]) -> None:
    axis.axvline(0.5, color="0.25", linewidth=0.9, linestyle=(0, (5, 4)), zorder=1)
    for place in range(0, len(order), 2):
        axis.axhspan(place - 0.5, place + 0.5, color="0.96", zorder=0, linewidth=0)
    for place, name in enumerate(order):
        value, low, high = (
            float(rows.loc[name, column]) if name in rows.index else np.nan
            for column in ("auroc", "auroc_low", "auroc_high")
        )
        if np.isnan(value):
            axis.text(0.5, place, "—", ha="center", va="center", color=style.SOFT, zorder=3)
            continue
        unsure = np.isnan(low) or low <= 0.5 <= high
        colour = style.OKABE_ITO[0 if value >= 0.5 else 1]
        axis.plot([low, high], [place, place], color=colour, linewidth=1.6, zorder=2, solid_capstyle="butt")
        axis.plot(
            value, place, "o" if value >= 0.5 else "s", color=colour, markersize=5, zorder=3,
            markerfacecolor="white" if unsure else colour, markeredgewidth=1.2,
        )  # fmt: skip
    axis.set(xlim=limits, ylim=(max(len(order), 1) - 0.5, -0.5), xlabel="AUROC")
    axis.set_yticks(range(len(order)), [name.replace("_", " ") for name in order], fontsize=8)
    axis.tick_params(axis="y", length=0)
    style.tick_shortly(axis.xaxis)
