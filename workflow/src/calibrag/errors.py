"""Every error that calibrag raises on purpose.

CalibragError
├── ConfigError        a wrong key, value or name in config.yaml
├── InputError         a document, question, trace or run file that breaks its format
├── MissingModelError  a model, adapter or package that the config names and this machine lacks
├── ModelCallError     a call of a chat model that gave no usable reply
│   └── SchemaError    no draw kept to the JSON schema of its request
├── BudgetError        a budget of tokens, seconds or cost that is spent
├── LeakError          a confidence that would be fitted on the question that it is filed for
└── RunError           a job that stops because too many of its questions failed

A message says what is wrong, what was found, what is allowed, and what to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal


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


CallFault = Literal[
    "unreachable", "timeout", "busy", "server", "denied", "unknown", "too_long", "invalid", "malformed", "schema"
]


class ModelCallError(CalibragError):
    """A call of a chat model gave no usable reply.

    Parameters
    ----------
    fault
        ``unreachable`` (no connection), ``timeout``, ``busy`` (429), ``server`` (5xx), ``denied`` (401, 403),
        ``unknown`` (404: no such model or path), ``too_long`` (the context), ``invalid`` (another 4xx), ``malformed``
        (the body is no such reply), ``schema`` (no draw kept to the JSON schema).
    model, host
        Which model was called, and where; None in this process.
    problem
        What happened and what to do.
    status
        The HTTP status, where there was one.
    attempts
        Calls made.
    """

    def __init__(
        self,
        fault: CallFault,
        model: str,
        host: str | None,
        problem: str,
        status: int | None = None,
        attempts: int = 1,
    ):
        self.fault = fault
        self.model = model
        self.host = host
        self.status = status
        self.attempts = attempts
        answered = f"HTTP {status}" if status is not None else fault
        tried = f"{attempts} attempt{'s' if attempts > 1 else ''}"
        super().__init__(f"{model}{f' at {host}' if host else ''}: {answered} after {tried}: {problem}")

    @property
    def meets_every_call(self) -> bool:
        """Whether the next call would fail alike, since address, key or model name is wrong."""
        return self.fault in ("unreachable", "denied", "unknown")


class SchemaError(ModelCallError):
    """No draw kept to the JSON schema of its request.

    Parameters
    ----------
    flaw
        What is wrong with the last one, in words for the model.
    reply
        The last one, a ``models.chat.seam.Reply`` with the cost of all.
    """

    def __init__(self, model: str, host: str | None, flaw: str, problem: str, reply: Any):
        super().__init__("schema", model, host, problem, attempts=reply.attempts)
        self.flaw = flaw
        self.reply = reply


class BudgetError(CalibragError):
    """A budget of tokens, seconds or cost is spent."""


class LeakError(CalibragError):
    """A confidence would be fitted on the question that it is filed for."""


class RunError(CalibragError):
    """Too many questions of a job failed; the message groups their errors."""
