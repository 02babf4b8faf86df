"""From a log to the files of an import: its questions, the traces of a pass, and what it says of its answers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from calibrag.errors import InputError
from calibrag.execution.imported import FORMATS, Logged
from calibrag.records import whole_file
from calibrag.trace import Trace

COLUMNS = ("qid", "pass", "name", "value")
"""Columns of a file of verdicts."""


def read_log(form: str, path: str | Path, collection: str, passes: int) -> list[Logged]:
    """Return the questions of a log in its order, with their first passes.

    Parameters
    ----------
    form
        A format of ``FORMATS``.
    collection
        The name of the import.
    passes
        Passes over a question that are taken, 1 or more.

    Raises
    ------
    InputError
        The file breaks its format, holds no question, or holds fewer passes of every question.
    """
    log = list(FORMATS[form].read(path, collection))
    if not log:
        raise InputError(path, "holds no question")
    most = max(trace.pass_number for each in log for trace in each.traces)
    if most < passes:
        problem = f"no question has more than {most} passes (wanted {passes}); correct imports.{collection}.passes"
        raise InputError(path, problem)
    return [
        Logged(
            each.question,
            [trace for trace in each.traces if trace.pass_number <= passes],
            [verdict for verdict in each.verdicts if verdict.pass_number <= passes],
        )
        for each in log
    ]


def traces_of_pass(log: Iterable[Logged], number: int) -> list[Trace]:
    """Return the traces of the pass of this number, of the questions that have it."""
    return [trace for each in log for trace in each.traces if trace.pass_number == number]


def write_verdicts(path: str | Path, log: Iterable[Logged]) -> None:
    """Write what the log says of its answers as CSV with ``COLUMNS``, a row for each pass and name."""
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(COLUMNS)
        for question, _, verdicts in log:
            rows.writerows((question.qid, number, name, float(value)) for number, name, value in verdicts)
