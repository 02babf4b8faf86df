"""Tables and figures of a made-up experiment in a folder, for tests of its page."""

from __future__ import annotations

from pathlib import Path

from scored_runs import MEASURES, RESAMPLING, scores, signals

from calibrag.reporting import answer_tables, study, summaries
from calibrag.reporting.figures.accuracy_hmr import draw_accuracy_hmr
from calibrag.reporting.figures.signals import draw_signal_auroc
from calibrag.reporting.results_page import Reading, write_results_page
from calibrag.reporting.tables import write_report

READING = Reading("nDCG@20", "four-pass", 3)
COLLECTIONS = {"film": (60, 2 / 60), "open_<b>$": (40, 0.3)}


def make_page(folder: Path, pages=(), collections=None) -> Path:
    """Write tables, figures and the page, and return the path of the page."""
    collections = COLLECTIONS if collections is None else collections
    answered = scores(collections)
    told = signals(collections, names=["searches", "nothing"])
    made = {"bootstrap": RESAMPLING}
    runs = answer_tables.summarise_answers(answered, MEASURES, "present", RESAMPLING)
    compared = {"measures": ["accHMR"], "reference": "AC-1", "by_type": "four-pass"}
    tests = {"trials": 100, "seed": 1}
    pairs = answer_tables.compare_answers(answered, compared, "present", RESAMPLING, tests)
    headings = answer_tables.run_headings(runs, MEASURES)
    files = {name: folder / "tables/main" / f"{name}.csv" for name in ("answer_runs", "answer_significance", "signals")}

    def write(name, frame, columns, subject):
        output = [files[name].with_suffix(end) for end in (".csv", ".md", ".tex")]
        write_report(output, frame, columns, 3, subject, summaries.counts(runs), **made)

    write("answer_runs", runs, headings, "Answer *runs*")
    write("answer_significance", pairs, answer_tables.PAIRS, "Pairs of answer runs")
    write("signals", told, study.SIGNALS, "Signals")
    figures = [folder / "figures/main" / f"{name}.svg" for name in ("accuracy_hmr", "signal_auroc")]
    draw_accuracy_hmr(runs, [], figures[0], figures[0].with_suffix(".png"), "Accuracy and HMR")
    draw_signal_auroc(told, figures[1], figures[1].with_suffix(".png"), "Signals")
    facts = {"collections": list(collections), "systems": ["bitem"], "retrievers": [], "release": ["0.1.0"]}
    path = folder / "tables/main/index.html"
    write_results_page(path, "main", list(files.values()), figures, pages, facts, READING)
    return path
