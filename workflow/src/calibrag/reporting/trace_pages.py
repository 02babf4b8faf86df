"""Pages about traces: one index and one page a question, static HTML that opens from a file.

Whatever comes from a corpus or a model is data. Jinja escapes every value, invisible and direction-turning characters
are written out, and a content security policy lets nothing run and nothing load but the one script and the one style
sheet that each page holds, known by their hashes: text that broke out of its place would still do nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from calibrag.corpus.store import PassageStore
from calibrag.errors import CalibragError
from calibrag.evaluation.labels import Right
from calibrag.records import Question
from calibrag.reporting import templating
from calibrag.reporting.escaping import visible
from calibrag.reporting.templating import own_files, write_page
from calibrag.reporting.trace_views import (
    FILTERS,
    QuestionView,
    is_failed_call,
    summarise,
    view_passages,
    view_question,
)
from calibrag.retrieval.runs import Qrels
from calibrag.runs.answer_runs import BASELINES
from calibrag.trace import RunEntry, Trace, TraceEvent
from calibrag.verification.quotes import find_quote, stands_in

SHOWN = 20_000
"""Characters of one text that a page shows at most; the rest stands in the trace."""


def write_trace_pages(
    folder: str | Path,
    questions: Sequence[Question],
    traces: Mapping[str, Sequence[Trace]],
    runs: Mapping[str, Sequence[RunEntry]],
    right: Right,
    store: PassageStore,
    qrels: Qrels,
    *,
    collection: str,
    system: str,
    verified_entailment: float,
    digits: int,
) -> int:
    """Write ``index.html`` and ``q/{name}.html`` for each question, and return how many bytes all have.

    Parameters
    ----------
    folder
        Made anew: what it held is removed.
    questions
        In the order of the index.
    traces
        qid -> its traces, in the order of the passes.
    runs
        Name of an answer run -> its entries; the first run's answer is the question's in the index.
    right
        Takes a qid and an answer, and says whether it is right.
    store
        Where passages are looked up; only those that the traces mention.
    qrels
        Judgements, for the marks at gold passages.
    verified_entailment
        P(entails) from which on a claim counts as verified, in [0, 1].
    digits
        Decimals of confidences and probabilities.

    Raises
    ------
    CalibragError
        A trace is about none of the questions.
    """
    if unknown := sorted(set(traces) - {question.qid for question in questions}):
        raise CalibragError(
            f"the traces are about questions that {collection} does not have ({', '.join(unknown[:3])}); "
            "remove the traces and run the workflow again"
        )
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "q").mkdir(parents=True)
    # baselines have the answers of another run
    entries = {run: {e.qid: e for e in filed} for run, filed in runs.items() if run not in BASELINES}
    views = [
        view_question(one, traces.get(one.qid, ()), {run: filed.get(one.qid) for run, filed in entries.items()}, right)
        for one in questions
    ]
    templates = environment(digits)
    common = {
        "summary": summarise(collection, system, views),
        "filters": FILTERS,
        "threshold": verified_entailment,
        "limit": SHOWN,
        **own_files(style=["pages.css"], script=["pages.js"]),
    }
    size = write_page(folder / "index.html", templates.get_template("index.html"), views=views, **common)
    page = templates.get_template("question.html")
    for place, view in enumerate(views):
        passages = view_passages(view, store, qrels.get(view.question.qid, {}))
        beside = {"before": views[place - 1] if place else None, "after": _next(views, place), "place": place + 1}
        golden = {passage_id for passage_id, one in passages.items() if one.grade}
        shown = {"view": view, "passages": passages, "golden": golden, **beside}
        size += write_page(folder / "q" / view.file, page, **shown, **common)
    return size


def _next(views: Sequence[QuestionView], place: int) -> QuestionView | None:
    return views[place + 1] if place + 1 < len(views) else None


def environment(digits: int) -> jinja2.Environment:
    """Return the templates with what pages about traces need."""
    templates = templating.environment()
    templates.filters |= {
        "number": _Numbers(digits),
        "highlighted": highlighted,
        "found_in": stands_in,
        "best": best,
        "cut": cut,
        "kind": _kind,
    }
    templates.tests["failed"] = is_failed_call
    return templates


def _kind(event: TraceEvent) -> str:
    """Return the event's name in the trace."""
    return type(event).__struct_config__.tag


class _Numbers:
    """A number as text, with so many decimals; a count as it is."""

    def __init__(self, digits: int):
        self.digits = digits

    def __call__(self, value: float) -> str:
        return f"{value:,}" if isinstance(value, int) else f"{value:.{self.digits}f}"


def cut(text: str) -> str:
    """Return what is shown of a text."""
    return text[:SHOWN]


def best(candidates: Sequence[str], probabilities: Sequence[float]) -> list[tuple[str, float]]:
    """Return the candidates with their probabilities, most probable first; equals in the order found."""
    return sorted(zip(candidates, probabilities, strict=True), key=lambda pair: -pair[1])


def highlighted(text: str, quotes: Iterable[str]) -> Markup:
    """Return a passage's text with its quotes marked, where they stand in it; overlapping ones become one mark."""
    text = cut(text)
    out, at = Markup(), 0
    for start, end in _places(text, quotes):
        out += escape(visible(text[at:start])) + Markup("<mark>") + escape(visible(text[start:end])) + Markup("</mark>")
        at = end
    return out + escape(visible(text[at:]))


def _places(text: str, quotes: Iterable[str]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(place for quote in quotes if (place := find_quote(quote, text))):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
