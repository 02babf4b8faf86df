"""Logs of other systems: one file a format, which turns its lines into questions and traces; ``FORMATS`` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from calibrag.execution.imported import adarague, jsonl, knowagent, react, seakr, seakr_direct
from calibrag.execution.imported.logged import Logged
from calibrag.trace import Aspect


class Format(NamedTuple):
    """A format of logs.

    Parameters
    ----------
    recorded
        What its traces hold, at least in one pass.
    read
        Takes the file and the name of the import; raises InputError that names file, line and field.
    """

    recorded: frozenset[Aspect]
    read: Callable[[str | Path, str], Iterator[Logged]]


_ACTED = frozenset({"searches", "calls", "turns", "reasoning"})

FORMATS: dict[str, Format] = {
    "jsonl": Format(frozenset({"confidence", "searches", "reasoning", "tokens", "seconds"}), jsonl.read),
    "adarague": Format(frozenset({"reasoning"}), adarague.read),
    "seakr": Format(frozenset(), seakr.read),
    "seakr-direct": Format(frozenset(), seakr_direct.read),
    "react": Format(_ACTED, react.read),
    "knowagent": Format(_ACTED, knowagent.read),
}
"""Name in the configuration -> format."""
