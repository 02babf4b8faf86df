"""Reading and writing the traces of passes, and their schema."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from calibrag.agents.pass_record import prompt_id
from calibrag.errors import InputError
from calibrag.records import read_jsonl, whole_file, write_jsonl
from calibrag.trace import SCHEMA_VERSION, Trace


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


def prompts_beside(path: str | Path) -> dict[str, str] | None:
    """Return SHA-256 -> text of the system prompts that lie beside a file of traces; None where there are none.

    Raises
    ------
    InputError
        ``prompts.json`` is no such map.
    """
    file = Path(path).with_name("prompts.json")
    if not file.is_file():
        return None
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    except msgspec.DecodeError as error:
        raise InputError(file, f"must map SHA-256 to text ({error})") from None


def read_prompts(paths: Iterable[str | Path]) -> dict[str, str]:
    """Return SHA-256 -> text of all system prompts that lie beside files of traces."""
    return {key: text for path in paths for key, text in (prompts_beside(path) or {}).items()}


def trace_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a trace, its texts the docstrings of the records."""
    _, components = msgspec.json.schema_components([Trace], ref_template="#/$defs/{name}")
    trace = components.pop("Trace")
    version = trace["properties"]["schema_version"]
    # what a constructor raises says nothing about a file
    trace["description"] = trace["description"].partition("\n\nRaises\n")[0]
    trace["properties"]["schema_version"] = version | {"const": SCHEMA_VERSION}
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:calibrag:trace:{SCHEMA_VERSION}",
    }
    return head | trace | {"$defs": components}
