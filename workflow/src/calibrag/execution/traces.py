"""Reading the traces of several passes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from calibrag.records import Trace, read_jsonl


def read_traces(paths: Iterable[str | Path]) -> dict[str, list[Trace]]:
    """Return qid -> its traces, in the order of the files, which is that of the passes; {} for no file."""
    traces: dict[str, list[Trace]] = {}
    for path in paths:
        for trace in read_jsonl(path, Trace):
            traces.setdefault(trace.qid, []).append(trace)
    return traces
