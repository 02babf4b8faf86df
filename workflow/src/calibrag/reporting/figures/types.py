"""What differs between two runs by type of question: bars of differences with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibrag.reporting.answer_tables import UNTYPED
from calibrag.reporting.figures import style

_HATCHES = ["", "////", "....", "\\\\\\\\", "xxxx"]


def differences_by_type(tables: Iterable[pd.DataFrame], measures: Iterable[str]) -> pd.DataFrame:
    """Return the rows of tables by type that hold these measures, as `draw_type_bars` takes them."""
    wanted = list(measures)
    rows = pd.concat([table[table["measure"].isin(wanted)] for table in tables], ignore_index=True)
    return pd.DataFrame(
        {
            "group": style.panel_names(rows),
            "of": rows["measure"] + ": " + rows["first"] + " less " + rows["second"],
            "type": rows["type"].replace(UNTYPED, "without a type"),
            "n": rows["n"],
            "value": rows["difference"].astype(float),
            "low": rows["difference_low"].astype(float),
            "high": rows["difference_high"].astype(float),
        }
    )


def draw_type_bars(bars: pd.DataFrame, svg_path: str | Path, png_path: str | Path, title: str) -> None:
    """Draw a bar a type of question, with its interval, in a row of panels a group and a column a quantity.

    Parameters
    ----------
    bars
        Columns group (row, such as a collection), of (column, what is drawn), type, n, value, low, high; in the order
        wanted. A bar without a value shows an em dash.
    svg_path, png_path
        Files to write; missing folders are made.
    title
        Stands over the panels.
    """
    with style.settings():
        style.save(_figure(bars, title), svg_path, png_path)


def _figure(bars: pd.DataFrame, title: str) -> Figure:
    groups, left = style.shown_panels(bars["group"])
    bars = bars[bars["group"].isin(groups)]
    kinds = list(dict.fromkeys(bars["of"]))
    types = {group: list(dict.fromkeys(rows["type"])) for group, rows in bars.groupby("group", sort=False)}
    heights = [max(len(types[group]), 1) for group in groups] or [1]
    width = 0.6 + 3.6 * max(len(kinds), 1)
    # a bar and its share of a panel's title and ticks
    figure = Figure(figsize=(width, 0.9 + sum(0.26 * n + 0.8 for n in heights)), dpi=200, layout="constrained")
    style.title(figure, title)
    shape = (max(len(groups), 1), max(len(kinds), 1))
    axes = figure.subplots(*shape, squeeze=False, sharex="col", gridspec_kw={"height_ratios": heights})
    if not groups:
        axes[0, 0].set_axis_off()
    for column, kind in enumerate(kinds):
        of_kind = bars[bars["of"] == kind]
        limits = style.span(of_kind[["value", "low", "high"]].to_numpy().ravel(), [-0.05, 0.05], 0.08)
        for row, group in enumerate(groups):
            axis = axes[row, column]
            chosen = of_kind[of_kind["group"] == group].set_index("type")
            _draw_panel(axis, chosen, types[group], column, limits)
            axis.set_title(group if column == 0 else "", fontsize=10, loc="left")
            axis.tick_params(labelbottom=True)
        axes[-1, column].set_xlabel(kind)
    note = "Bars: the first run less the second, on the questions of a type; thin lines: intervals."
    style.note(figure, note if groups else "No system has both runs.", "A dash: no value." if groups else "", left)
    return figure


def _draw_panel(axis: Axes, rows: pd.DataFrame, types: list[str], kind: int, limits: tuple[float, float]) -> None:
    axis.axvline(0, color="0.25", linewidth=0.9, zorder=1)
    names = []
    for place, name in enumerate(types):
        n, value, low, high = (
            rows.loc[name, column] if name in rows.index else np.nan for column in ("n", "value", "low", "high")
        )
        names.append(f"{name} (n = {int(n):,})" if not np.isnan(n) else name)
        if np.isnan(value):
            axis.text(0, place, "—", ha="center", va="center", color=style.SOFT, zorder=3)
            continue
        axis.barh(
            place, value, height=0.6, color=style.OKABE_ITO[kind % len(style.OKABE_ITO)], alpha=0.75, zorder=2,
            hatch=_HATCHES[kind % len(_HATCHES)], edgecolor="white", linewidth=0,
        )  # fmt: skip
        axis.plot([low, high], [place, place], color="0.1", linewidth=1.1, zorder=3, marker="|", markersize=5)
    axis.set(xlim=limits, ylim=(max(len(types), 1) - 0.5, -0.5))
    axis.set_yticks(range(len(types)), names, fontsize=8)
    axis.tick_params(axis="y", length=0)
    style.tick_shortly(axis.xaxis)
