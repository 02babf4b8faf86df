"""What all figures share: colours, markers and lines, panels, notes below them, and how they are saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibrag.reporting.cells import format_number

OKABE_ITO = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
"""Colours that stay apart under every common colour blindness (Okabe and Ito; yellow left out, too pale)."""
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
LINES: list[str | tuple] = ["-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 2, 1, 2, 1, 2))]

MOST_PANELS = 9
"""Panels of a figure at most; a note names what is left out."""

ACROSS = 3
"""Panels beside one another at most."""

SOFT = "0.35"
FAINT = "0.72"

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


class Style(NamedTuple):
    """How a run is drawn."""

    colour: str
    marker: str
    line: str | tuple


def settings() -> AbstractContextManager:
    """Return the context in which a figure is drawn."""
    return mpl.rc_context(_SETTINGS)


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Return name -> its style; two names share one only beyond 42 names."""
    return {
        name: Style(
            OKABE_ITO[i % len(OKABE_ITO)],
            MARKERS[(i + i // len(OKABE_ITO)) % len(MARKERS)],
            LINES[i % len(LINES)],
        )
        for i, name in enumerate(dict.fromkeys(names))
    }


def panel_names(rows: pd.DataFrame) -> pd.Series:
    """Return the panel of each row: its collection, and its system where there are several."""
    several = rows["system"].nunique() > 1
    return rows["collection"] + (", " + rows["system"] if several else "")


def shown_panels(groups: Sequence[str]) -> tuple[list[str], str]:
    """Return the panels that are drawn, and a sentence about the others, empty where there are none."""
    names = list(dict.fromkeys(groups))
    left = names[MOST_PANELS:]
    return names[:MOST_PANELS], f"Not drawn, {len(left)} more: {', '.join(left)}." if left else ""


def grid(count: int, width: float, height: float, **shared: bool) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels, `ACROSS` a row, each of this size in inches."""
    across = min(count, ACROSS)
    down = -(-count // across)
    figure = Figure(figsize=(0.6 + width * across, 0.5 + height * down), dpi=200, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, **shared).ravel()
    for axis in axes[count:]:
        axis.set_axis_off()
    for axis in axes[:count]:
        axis.tick_params(labelleft=True, labelbottom=True)
    return figure, list(axes[:count])


def title(figure: Figure, text: str) -> None:
    """Write the title at the top left, in lines as long as the figure is wide."""
    figure.suptitle(_lines(figure, text, 11), fontsize=11, x=0.01, ha="left")


def note(figure: Figure, *sentences: str) -> None:
    """Write what a reader needs below the panels, in lines as long as the figure is wide."""
    text = _lines(figure, " ".join(filter(None, sentences)), 7.5)
    figure.supxlabel(text, fontsize=7.5, color=SOFT, x=0.01, ha="left")


def _lines(figure: Figure, text: str, size: float) -> str:
    # a letter of DejaVu Sans is some .56 of its size wide
    return "\n".join(wrap(text, int(figure.get_figwidth() * 72 / (0.56 * size)), break_on_hyphens=False))


def short(value: float, _: object = None) -> str:
    """Return a tick's number without the zero before the point."""
    return format_number(value, 4).rstrip("0").rstrip(".") or "0"


def tick_shortly(*axes: mpl.axis.Axis) -> None:
    """Write the numbers of these axes without the zero before the point."""
    for axis in axes:
        axis.set_major_formatter(short)


def span(values: Iterable[float], included: Iterable[float], room: float) -> tuple[float, float]:
    """Return limits around the finite values and these, with room on either side, a share of their distance."""
    known = np.array([*(value for value in values if np.isfinite(value)), *included])
    gap = max(known.max() - known.min(), 0.1) * room
    return known.min() - gap, known.max() + gap


def save(figure: Figure, svg_path: str | Path, png_path: str | Path) -> None:
    """Write the figure, without date and names of programs; missing folders are made."""
    for path in map(Path, (svg_path, png_path)):
        path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(svg_path, format="svg", metadata={"Date": None, "Creator": None})
    figure.savefig(png_path, format="png", metadata={"Software": None})
