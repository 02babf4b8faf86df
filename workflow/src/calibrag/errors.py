"""Every error that calibrag raises on purpose.

CalibragError
├── ConfigError        a wrong key, value or name in config.yaml
├── InputError         a document, question, trace or run file that breaks its format
├── MissingModelError  a model, adapter or package that the config names and this machine lacks
└── RunError           a job that stops because too many of its questions failed

A message says what is wrong, what was found, what is allowed, and what to do.
"""

from __future__ import annotations

from pathlib import Path


class CalibragError(Exception):
    """Root of the errors that calibrag raises on purpose."""


class ConfigError(CalibragError):
    """The configuration is wrong.

    Parameters
    ----------
    key
        Dotted path of the offending key, such as ``systems.bitem.passes``.
    problem
        What is wrong and what is allowed.
    file
        The file to edit.
    """

    def __init__(self, key: str, problem: str, file: str | Path = "config.yaml"):
        self.key = key
        self.file = str(file)
        super().__init__(f"{file}: {key}: {problem}")


class InputError(CalibragError):
    """An input file breaks its format; names file, line (from 1) and field where they are known."""

    def __init__(
        self,
        file: str | Path,
        problem: str,
        line: int | None = None,
        field: str | None = None,
    ):
        self.file = str(file)
        self.line = line
        self.field = field
        where = str(file) + (f":{line}" if line is not None else "")
        super().__init__(f"{where}: {f'{field}: ' if field else ''}{problem}")


class MissingModelError(CalibragError):
    """A model, adapter or package that the configuration names is not on this machine."""


class RunError(CalibragError):
    """Too many questions of a job failed; the message groups their errors."""
