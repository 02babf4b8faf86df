"""Reading a log whole, and writing what the log says of its own answers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from calibrag.errors import InputError
from calibrag.execution.imported import FORMATS, Logged
from calibrag.records import whole_file
from calibrag.trace import Trace

LABEL_COLUMNS = ("qid", "pass", "label", "value")


def open_log(form: str, path: str | Path, collection: str, passes: int) -> list[Logged]:
    """Return the questions of a log with their first ``passes`` passes.

    Raises
    ------
    InputError
        A line is none of the format, a question comes twice, or no question has as many passes.
    """
    lines: dict[str, Logged] = {}
    for logged in FORMATS[form].read(path, collection):
        qid = logged.question.qid
        if qid in lines:
            raise InputError(path, f"question {qid} comes twice; a question has one line with all of its passes")
        lines[qid] = logged._replace(traces=logged.traces[:passes], labels=logged.labels[:passes])
    most = max((len(line.traces) for line in lines.values()), default=0)
    if most < passes:
        raise InputError(path, f"must hold a question with {passes} passes (got {most} at most)", field="passes")
    return list(lines.values())


def pass_of(lines: Iterable[Logged], number: int) -> list[Trace]:
    """Return the traces of the passes of this number; a question with fewer has none."""
    return [trace for line in lines for trace in line.traces if trace.pass_number == number]


def write_labels(path: str | Path, lines: Sequence[Logged]) -> None:
    """Write one row a label: question, pass, its name, and ``true`` or ``false``."""
    with whole_file(path) as partial, open(partial, "w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(LABEL_COLUMNS)
        for line in lines:
            for number, labels in enumerate(line.labels, start=1):
                rows.writerows([line.question.qid, number, name, str(right).lower()] for name, right in labels.items())
