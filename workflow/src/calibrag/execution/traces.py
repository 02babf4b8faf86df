"""Reading and writing the traces of passes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from calibrag.agents.pass_record import prompt_id
from calibrag.records import read_jsonl, whole_file, write_jsonl
from calibrag.trace import Trace


def read_traces(paths: Iterable[str | Path]) -> dict[str, list[Trace]]:
    """Return qid -> its traces, in the order of the files, which is that of the passes; {} for no file.

    The qids are sorted, so that nothing depends on how questions were shared out among files.
    """
    traces: dict[str, list[Trace]] = {}
    for path in paths:
        for trace in read_jsonl(path, Trace):
            traces.setdefault(trace.qid, []).append(trace)
    return dict(sorted(traces.items()))


def write_traces(path: str | Path, prompts_path: str | Path, traces: Iterable[Trace], prompts: Iterable[str]) -> None:
    """Write traces as JSON Lines, and beside them the system prompts that they name, by their SHA-256."""
    with whole_file(prompts_path) as partial:
        partial.write_bytes(
            msgspec.json.format(msgspec.json.encode({prompt_id(text): text for text in prompts})) + b"\n"
        )
    write_jsonl(path, traces)
