"""Labels of points, placed so that they cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

_DISTANCES = (7, 13, 20, 28, 38, 50)
_ANGLES = np.deg2rad([45, 315, 135, 225, 0, 180, 90, 270])
_LEADER = 13
"""Distance in points beyond which a thin line ties the label to its point."""


def place_labels(
    axis: Axes,
    xy: NDArray,
    labels: Sequence[str],
    colours: Sequence[str],
    lines: Sequence[NDArray],
    **style,
) -> list[Annotation]:
    """Write a label beside each point and return them.

    Each label takes the first of its places, near ones first, that covers nothing and is nearer to no other point, or
    tied to its own; where none is free, the place that covers least. Greedy and without chance, so the same data gives
    the same picture.

    Parameters
    ----------
    axis
        With limits and position final: later changes move points under their labels.
    xy
        Points in data coordinates, shape (n, 2).
    labels, colours
        One a point.
    lines
        Upright or level lines that labels had better not cross, each by its two ends, shape (2, 2).
    **style
        Passed to the text.
    """
    figure = axis.figure
    renderer = figure.canvas.get_renderer()
    pixels = figure.dpi / 72
    centres = axis.transData.transform(xy) if len(xy) else np.empty((0, 2))
    # a marker is some 6.5 points wide
    taken = [Bbox.from_extents(*(centre - 4.5 * pixels), *(centre + 4.5 * pixels)) for centre in centres]
    for line in lines:
        taken.append(Bbox(np.sort(axis.transData.transform(line), axis=0)).padded(0.8 * pixels))
    panel = axis.get_window_extent(renderer)
    written = []
    for centre, point, label, colour in zip(centres, xy, labels, colours, strict=True):
        text = axis.annotate(label, point, (0, 0), textcoords="offset points", color=colour, zorder=5, **style)
        size = text.get_window_extent(renderer)
        costs = []
        for distance in _DISTANCES:
            for angle in _ANGLES:
                box = _box(centre, distance * pixels, angle, size.width, size.height)
                covered = sum(_overlap(box, other) for other in taken) + 3 * _outside(box, panel)
                # without a line to its own point, one beside another point would be read as that one's
                strange = distance <= _LEADER and any(_gap(box, other) < _gap(box, centre) - 1 for other in centres)
                costs.append((covered + strange * 0.5 * size.width * size.height, box, distance))
        _, box, distance = min(costs, key=lambda cost: round(cost[0], 3))
        text.set_position((np.array([box.x0, box.y0]) - centre) / pixels)
        text.set_verticalalignment("bottom")
        if distance > _LEADER:
            _draw_leader(axis, centre, box, colour)
        taken.append(box.padded(1.5 * pixels))
        written.append(text)
    return written


def _box(centre: NDArray, distance: float, angle: float, width: float, height: float) -> Bbox:
    """Return the label's box, anchored on a circle around the point at this angle, by its side or corner there."""
    (x, y), cosine, sine = centre, np.cos(angle), np.sin(angle)
    left = x + distance * cosine - width * _share_before(cosine)
    bottom = y + distance * sine - height * _share_before(sine)
    return Bbox.from_bounds(left, bottom, width, height)


def _share_before(component: float) -> float:
    """Return which share of the label lies before its anchor: none, half or all."""
    return 0.0 if component > 0.3 else 1.0 if component < -0.3 else 0.5


def _overlap(one: Bbox, other: Bbox) -> float:
    width = min(one.x1, other.x1) - max(one.x0, other.x0)
    height = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(width, 0.0) * max(height, 0.0)


def _gap(box: Bbox, point: NDArray) -> float:
    """Return the distance from a point to the box, 0 inside."""
    return float(np.hypot(*(point - np.clip(point, [box.x0, box.y0], [box.x1, box.y1]))))


def _outside(box: Bbox, panel: Bbox) -> float:
    return box.width * box.height - _overlap(box, panel)


def _draw_leader(axis: Axes, centre: NDArray, box: Bbox, colour: str) -> None:
    near = np.clip(centre, [box.x0, box.y0], [box.x1, box.y1])
    ends = axis.transData.inverted().transform([centre, near])
    axis.plot(ends[:, 0], ends[:, 1], color=colour, linewidth=0.6, alpha=0.7, zorder=3)
