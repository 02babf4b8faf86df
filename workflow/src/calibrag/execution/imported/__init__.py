"""Logs of other systems: one file a format, which turns its lines into questions and traces.

A new format is one file here, its line in ``FORMATS``, and its name in the schema of the configuration.
"""

from __future__ import annotations

from calibrag.execution.imported import adarague, jsonl, seakr, trajectories
from calibrag.execution.imported.seam import Format, Logged

__all__ = ["FORMATS", "Format", "Logged"]

FORMATS: dict[str, Format] = {
    "jsonl": Format(None, jsonl.read),
    "adarague": Format(3, adarague.read),
    "seakr": Format(1, seakr.read_steps),
    "seakr-direct": Format(1, seakr.read_direct),
    "react": Format(None, trajectories.read_react),
    "knowagent": Format(1, trajectories.read_knowagent),
}
"""Name in the configuration -> format."""
