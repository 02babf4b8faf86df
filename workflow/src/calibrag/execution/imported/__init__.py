"""Logs of other systems: one file a format, which turns its lines into questions and traces; ``FORMATS`` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from calibrag.records import Question
from calibrag.trace import Aspect, Trace


class Logged(NamedTuple):
    """A question of a log, and the passes over it, first to last; a pass that the log lacks is left out."""

    question: Question
    traces: list[Trace]


class Format(NamedTuple):
    """A format of logs.

    Parameters
    ----------
    passes
        The most passes over a question.
    recorded
        What its traces hold, at least in one pass.
    read
        Takes the file and the name of the import; raises InputError that names file, line and field.
    """

    passes: int
    recorded: frozenset[Aspect]
    read: Callable[[Path, str], Iterator[Logged]]


FORMATS: dict[str, Format] = {}
"""Name in the configuration -> format."""
