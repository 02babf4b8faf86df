"""One page with the results of an experiment: what was run, then tables and figures with what they say.

Every number of a sentence is a cell of a table or counts its rows, and each table is the one that its Markdown file
shows, so that the page has no list of columns of its own. Figures stand in the page as images, in which no script runs
and nothing is loaded; names from files are escaped as in the trace pages. No date: the same tables make the same bytes.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from markdown_it import MarkdownIt
from markupsafe import Markup

from calibrag.reporting import findings, study_findings, templating
from calibrag.reporting.findings import Ranked
from calibrag.reporting.summaries import read_rows

Tables = Mapping[str, pd.DataFrame]
Paragraphs = list[list[str]]


class Reading(NamedTuple):
    """What sentences need beside the tables."""

    measure: str
    """The measure by which rankings are placed."""
    studied: str
    """The answer run whose confidence is studied."""
    digits: int
    """Decimals."""


class Section(NamedTuple):
    """A part of the page; left out where the experiment has none of its tables."""

    title: str
    tables: tuple[str, ...]
    figures: tuple[str, ...] = ()
    said: Callable[[Tables, Reading], Paragraphs] = lambda tables, reading: []


class Shown(NamedTuple):
    """A table as the page shows it."""

    name: str
    subject: Markup
    caption: Markup
    body: Markup
    rows: int
    files: dict[str, str]


FIGURES = {
    "accuracy_hmr": "Accuracy against HMR of the answer runs, over curves of equal accHMR.",
    "reliability": "Accuracy of answers against their confidence, by bins of confidence.",
    "risk_coverage": "Share of wrong answers among the surest, against the share of answers kept.",
    "signal_auroc": "How well each signal tells right answers from wrong ones.",
    "type_bars": "Differences between two runs by type of question.",
}
"""Figure -> what it shows."""

LONG = 28
"""Characters of text from which on a cell is broken into lines."""

OPEN_ROWS = 30
"""Rows up to which the first table of a section is open when the page is."""


def _rankings(tables: Tables, reading: Reading) -> Paragraphs:
    pairs = findings.no_pairs
    if "significance" in tables:
        pairs = findings.pairs_of(tables["significance"], reading.measure, system=False)
    ranked = Ranked("retriever", ["retriever"], reading.measure)
    return [findings.rank_sentences(tables["retrieval"], ranked, pairs, reading.digits)]


def _passages(tables: Tables, reading: Reading) -> Paragraphs:
    pairs = findings.no_pairs
    if "passage_significance" in tables:
        pairs = findings.pairs_of(tables["passage_significance"], reading.measure, system=False)
    ranked = Ranked("passage run", ["system", "run"], reading.measure)
    said = [findings.rank_sentences(tables["passage_runs"], ranked, pairs, reading.digits)]
    if "length" in tables:
        said.append(findings.length_sentences(tables["length"], reading.measure, reading.digits))
    if "passage_types" in tables:
        rows = tables["passage_types"]
        said.append(findings.type_sentences(rows[rows["measure"] == reading.measure]))
    return said


def _answers(tables: Tables, reading: Reading) -> Paragraphs:
    pairs = findings.no_pairs
    if "answer_significance" in tables:
        pairs = findings.pairs_of(tables["answer_significance"], "accHMR", system=True)
    ranked = Ranked("answer run", ["system", "run"], "accHMR")
    said = [findings.rank_sentences(tables["answer_runs"], ranked, pairs, reading.digits)]
    if "answer_types" in tables:
        said.append(findings.type_sentences(tables["answer_types"]))
    return said


def _study(tables: Tables, reading: Reading) -> Paragraphs:
    said = {
        "signals": lambda table: study_findings.signal_sentences(table, reading.digits),
        "confidence": lambda table: study_findings.confidence_sentences(table, reading.studied, reading.digits),
        "permuted": lambda table: study_findings.permuted_sentences(table, reading.digits),
        "transfer": lambda table: study_findings.transfer_sentences(table, reading.digits),
    }
    return [say(tables[name]) for name, say in said.items() if name in tables]


def _ablations(tables: Tables, reading: Reading) -> Paragraphs:
    return [study_findings.ablation_sentences(tables["ablations"], reading.measure, reading.digits)]


SECTIONS = (
    Section(
        "Collections", ("collections",), said=lambda tables, _: [findings.collection_sentences(tables["collections"])]
    ),
    Section("Retrieval", ("retrieval", "significance", "published"), said=_rankings),
    Section("Passages filed", ("passage_runs", "passage_significance", "passage_types", "length"), said=_passages),
    Section(
        "Answers filed, and their confidence",
        ("answer_runs", "answer_significance", "answer_types"),
        ("accuracy_hmr", "reliability", "risk_coverage", "type_bars"),
        _answers,
    ),
    Section("What tells right answers", ("signals", "confidence", "permuted", "transfer"), ("signal_auroc",), _study),
    Section("Labels", ("labels",), said=lambda tables, _: [study_findings.label_sentences(tables["labels"])]),
    Section("Errors", ("errors",), said=lambda tables, _: [study_findings.error_sentences(tables["errors"])]),
    Section("Cost", ("cost",), said=lambda tables, _: [study_findings.cost_sentences(tables["cost"])]),
    Section("Ablations", ("ablations",), said=_ablations),
    Section("Models", ("models", "reader", "names")),
)
"""The sections in their order; the first table of one is there wherever one of the others is."""


def write_results_page(
    path: str | Path,
    experiment: str,
    tables: Sequence[str | Path],
    figures: Sequence[str | Path],
    pages: Sequence[str | Path],
    facts: Mapping[str, Sequence[str]],
    reading: Reading,
) -> int:
    """Write the page of an experiment and return how many bytes it has.

    Parameters
    ----------
    tables
        CSV files; the Markdown and LaTeX files of the same names lie beside them.
    figures
        SVG files; the PNG files of the same names lie beside them.
    pages
        Folders of trace pages, ``{collection}/{system}/pages``, that the page leads to.
    facts
        What was run: heading -> names; the questions by collection are counted from the tables.

    Raises
    ------
    KeyError
        A table lacks a column that a sentence reads.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    files = {Path(table).stem: Path(table) for table in tables}
    drawn = {Path(figure).stem: Path(figure) for figure in figures}
    template = templating.environment().get_template("results/index.html")
    # what no section names is shown all the same
    known = {name for section in SECTIONS for name in section.tables}
    others = Section("Further tables", tuple(name for name in files if name not in known))
    chosen = [section for section in (*SECTIONS, others) if set(section.tables) & set(files)]
    return templating.write_page(
        path,
        template,
        experiment=experiment,
        facts={"questions": _questions(files)} | dict(facts),
        sections=[_section(section, files, drawn, path.parent, reading) for section in chosen],
        pages={_named(page): _link(Path(page) / "index.html", path.parent) for page in pages},
        open_rows=OPEN_ROWS,
        **templating.own_files(style=["pages.css", "results/results.css"]),
    )


def _questions(files: Mapping[str, Path]) -> list[str]:
    """Return how many questions were asked, by collection."""
    for name, column in (("answer_runs", "n_asked"), ("retrieval", "n")):
        if name in files:
            counts = read_rows([files[name]]).groupby("collection", sort=False)[column].max()
            return [f"{collection} {count:,}" for collection, count in counts.items()]
    return []


def _section(
    section: Section, files: Mapping[str, Path], drawn: Mapping[str, Path], folder: Path, reading: Reading
) -> dict[str, object]:
    names = [name for name in section.tables if name in files]
    said = section.said({name: read_rows([files[name]]) for name in names}, reading)
    return {
        "title": section.title,
        "anchor": re.sub(r"\W+", "-", section.title.lower()),
        "paragraphs": [paragraph for paragraph in said if paragraph],
        "tables": [_table(name, files[name], folder) for name in names],
        "figures": [_figure(name, drawn[name], folder) for name in section.figures if name in drawn],
    }


def _table(name: str, csv: Path, folder: Path) -> Shown:
    caption, _, body = csv.with_suffix(".md").read_text(encoding="utf-8").partition("\n\n")
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    subject = re.match(r"\*\*(.+?)(?<!\\)\*\*", caption)
    shown, told = (subject[1], caption[subject.end() :]) if subject else (name, caption)
    tokens = renderer.parse(body)
    for token, inside in pairwise(tokens):
        # the policy of the page lets no element carry a style
        if "style" in token.attrs:
            token.attrs = {"class": "number"}
        elif token.type == "td_open" and len(inside.content) > LONG:
            token.attrs = {"class": "long"}
    return Shown(
        name=name,
        subject=Markup(renderer.renderInline(shown)),
        caption=Markup(renderer.renderInline(told.strip())),
        body=Markup(renderer.renderer.render(tokens, renderer.options, {})),
        rows=max(body.count("\n") - 2, 0),
        files={kind: _link(csv.with_suffix(f".{kind}"), folder) for kind in ("csv", "md", "tex")},
    )


def _figure(name: str, svg: Path, folder: Path) -> dict[str, object]:
    drawing = svg.read_bytes()
    # panels beside one another want room
    width = re.search(rb'<svg[^>]*\bwidth="([\d.]+)pt"', drawing)
    return {
        "image": "data:image/svg+xml;base64," + base64.b64encode(drawing).decode(),
        "caption": FIGURES[name],
        "wide": width is not None and float(width[1]) > 400,
        "files": {kind: _link(svg.with_suffix(f".{kind}"), folder) for kind in ("svg", "png")},
    }


def _named(page: str | Path) -> str:
    collection, system, _ = Path(page).parts[-3:]
    return f"{system} on {collection}"


def _link(target: Path, folder: Path) -> str:
    return os.path.relpath(target, folder).replace(os.sep, "/")
