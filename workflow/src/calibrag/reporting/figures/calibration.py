"""How true confidence is, and what is gained by keeping the surest answers: reliability and risk against coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from calibrag.errors import CalibragError
from calibrag.evaluation.answer_summary import Missing, answers_of
from calibrag.evaluation.calibration import Binning, Tally, aurc, ece
from calibrag.evaluation.curves import reliability_bins, risk_coverage
from calibrag.reporting.cells import format_number
from calibrag.reporting.figures import style

FEWEST = 10
"""Answers that a bin of a reliability diagram has on average, at least."""


def draw_reliability(
    scores: pd.DataFrame, runs: Sequence[str], bins: int, binning: Binning, missing: Missing, svg_path: str | Path,
    png_path: str | Path, title: str,
) -> None:  # fmt: skip
    """Draw the accuracy of answers against their confidence, by bins of confidence, one panel a collection and system.

    A mark is a bin, as large as its answers are many; answers of one confidence are never parted. Few answers are drawn
    in fewer bins, `FEWEST` in one on average. The legend names the ECE, of all of the bins.

    Parameters
    ----------
    scores
        Answers by question, of all collections, systems and runs.
    runs
        The runs that are drawn; a system that lacks one goes without it.
    bins, binning
        As `calibration.ece`.
    missing
        As `summarise_answer_run`, which says what a refusal counts.

    Raises
    ------
    CalibragError
        There is none of the runs.
    """
    with style.settings():
        style.save(_reliability(scores, runs, bins, binning, missing, title), svg_path, png_path)


def draw_risk_coverage(
    scores: pd.DataFrame, runs: Sequence[str], missing: Missing, svg_path: str | Path, png_path: str | Path, title: str
) -> None:
    """Draw the share of wrong answers among those kept, against the share that is kept, the surest first.

    Answers of one confidence have no order: among them the curve is the expectation over all orders. A dashed line
    stands at the risk of all answers, where a confidence that says nothing stays. Parameters and errors are those of
    `draw_reliability`; the legend names the area under each curve.
    """
    with style.settings():
        style.save(_risk_coverage(scores, runs, missing, title), svg_path, png_path)


def _tallies(scores: pd.DataFrame, runs: Sequence[str], missing: Missing) -> dict[str, dict[str, Tally]]:
    """Return panel -> run -> its answers, for runs that have some."""
    wanted = scores[scores["run"].isin(runs)]
    if wanted.empty:
        found = ", ".join(dict.fromkeys(scores["run"]))
        raise CalibragError(f"figures want at least one of the runs {', '.join(runs)} (found {found}); name others")
    panels: dict[str, dict[str, Tally]] = {}
    for panel, rows in wanted.groupby(style.panel_names(wanted), sort=False):
        by_run = {run: answers_of(rows[rows["run"] == run], missing).tally for run in runs if run in set(rows["run"])}
        panels[panel] = {run: tally for run, tally in by_run.items() if tally.size.sum()}
    return panels


def _absent(tallies: dict[str, dict[str, Tally]], runs: Sequence[str]) -> str:
    drawn = set().union(*tallies.values())
    absent = [run for run in runs if run not in drawn]
    return f"Of no system: {', '.join(absent)}." if absent else ""


def _panels(
    tallies: dict[str, dict[str, Tally]], runs: Sequence[str], title: str, **labels: str
) -> tuple[Figure, str, Iterator[tuple[Axes, dict[str, Tally], dict[str, style.Style]]]]:
    """Return the figure, a sentence about panels left out, and for each panel its axis, its runs and their styles."""
    groups, left = style.shown_panels(list(tallies))
    figure, axes = style.grid(len(groups), 3.9, 4.2, sharex=True, sharey=True)
    style.title(figure, title)

    def each():
        for axis, group in zip(axes, groups, strict=True):
            counts = sorted({int(tally.size.sum()) for tally in tallies[group].values()})
            n = (
                "no answer"
                if not counts
                else f"n = {'-'.join(f'{n:,}' for n in dict.fromkeys((counts[0], counts[-1])))}"
            )
            axis.set_title(f"{group} ({n})", fontsize=10, loc="left")
            axis.set(xlabel=labels["xlabel"])
            style.tick_shortly(axis.xaxis, axis.yaxis)
            axis.xaxis.set_major_locator(MultipleLocator(0.2))
            yield axis, tallies[group], style.styles(runs)
            if tallies[group]:
                # below the panel, where no curve runs
                axis.legend(
                    loc="upper left", bbox_to_anchor=(-0.02, -0.14), fontsize=7, frameon=False, ncols=2,
                    handlelength=3, columnspacing=1, title=labels["legend"], title_fontsize=7, alignment="left",
                )  # fmt: skip
        for axis in axes[:: style.ACROSS]:
            axis.set_ylabel(labels["ylabel"])

    return figure, left, each()


def _reliability(scores, runs, bins, binning, missing, title) -> Figure:
    tallies = _tallies(scores, runs, missing)
    labels = {"xlabel": "mean confidence of a bin", "ylabel": "accuracy", "legend": "run, ECE"}
    figure, left, panels = _panels(tallies, runs, title, **labels)
    for axis, by_run, styles in panels:
        axis.plot([0, 1], [0, 1], color=style.FAINT, linewidth=0.9, zorder=0)
        axis.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
        for run, tally in by_run.items():
            colour, marker, line = styles[run]
            drawn = max(2, min(bins, int(tally.size.sum()) // FEWEST))
            rows = reliability_bins(tally, drawn, binning).query("n > 0")
            name = f"{run}, {format_number(float(ece(tally, bins, binning)), 2)}"
            axis.plot(
                rows["confidence"], rows["accuracy"], color=colour, linestyle=line, linewidth=1.2, zorder=2,
                marker=marker, markersize=4.5, markeredgecolor="white", markeredgewidth=0.5, label=name,
            )  # fmt: skip
            sizes = 14 + 170 * (rows["n"] / rows["n"].sum()).to_numpy()
            axis.scatter(
                rows["confidence"], rows["accuracy"], s=sizes, color=colour, marker=marker, alpha=0.55, zorder=3,
                linewidths=0.6, edgecolors="white", clip_on=False,
            )  # fmt: skip
    style.note(
        figure,
        f"ECE: {bins} bins of {'equal width' if binning == 'width' else 'about equally many answers'}; of few answers "
        f"as many bins are drawn as get {FEWEST} each. Answers of one confidence share a bin; a mark is as large as "
        "its share of the run's answers. Grey: confidence as high as accuracy; above it too little was claimed, below "
        "it too much.",
        _absent(tallies, runs),
        left,
    )
    return figure


def _risk_coverage(scores, runs, missing, title) -> Figure:
    tallies = _tallies(scores, runs, missing)
    labels = {"xlabel": "coverage: share of answers kept", "ylabel": "risk: share of these that is wrong"}
    labels["legend"] = "run, AURC"
    figure, left, panels = _panels(tallies, runs, title, **labels)
    for axis, by_run, styles in panels:
        axis.set(xlim=(0, 1.02), ylim=(-0.03, 1.03))
        for risk in sorted({round(float(tally.wrong.sum() / tally.size.sum()), 3) for tally in by_run.values()}):
            axis.axhline(risk, color=style.FAINT, linewidth=0.9, linestyle=(0, (5, 4)), zorder=0)
        for run, tally in by_run.items():
            colour, marker, line = styles[run]
            curve = risk_coverage(tally)
            name = f"{run}, {format_number(float(aurc(tally)), 2)}"
            # one mark at the end of each confidence, at most a few
            ends = np.cumsum(tally.size[::-1])[tally.size[::-1] > 0] - 1
            marked = ends if len(ends) <= 12 else np.linspace(0, len(curve) - 1, 9).astype(int)[1:]
            axis.plot(
                curve["coverage"], curve["risk"], color=colour, linestyle=line, linewidth=1.3, marker=marker,
                markevery=list(marked), markersize=5, markeredgecolor="white", markeredgewidth=0.5, label=name,
                zorder=2, clip_on=False,
            )  # fmt: skip
    style.note(
        figure,
        "The surest answers are kept first; among answers of one confidence the curve is the expectation over all "
        "orders. Dashed: all answers kept, where a confidence that says nothing stays. AURC: mean of the curve, lower "
        "is better. Marks: the last answers of a confidence, or every eighth of many.",
        _absent(tallies, runs),
        left,
    )
    return figure
