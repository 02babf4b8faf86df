"""The folder of an index: what it says of itself, so that a damaged, foreign or outdated one is refused when opened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calibrag.errors import CalibragError, InputError

_DESCRIPTION = "calibrag.json"


class IndexFolder:
    """A folder with the files of one index and their description, which is written last.

    Parameters
    ----------
    path
        The folder.
    kind
        What errors call it, such as ``sparse index``.
    version
        Facts that must be the same when it is built and when it is opened, such as format and library version.
    """

    def __init__(self, path: str | Path, kind: str, version: Mapping[str, Any]):
        self.path = Path(path)
        self.kind = kind
        self.version = dict(version)

    @contextmanager
    def building(self) -> Iterator[dict[str, Any]]:
        """Take the description away, yield the one to fill, and write it: a folder without one is no whole index.

        Raises
        ------
        CalibragError
            A file could not be written, as when the disk is full.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / _DESCRIPTION).unlink(missing_ok=True)
        facts: dict[str, Any] = {}
        try:
            yield facts
            description = self.version | facts | {"files": self._sizes()}
            (self.path / _DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
        except (OSError, WriteError) as error:
            problem = (
                f"the {self.kind} could not be written ({error}); make room on its disk and run the workflow again"
            )
            raise CalibragError(f"{self.path}: {problem}") from error

    def description(self) -> dict[str, Any]:
        """Return the description of a whole index of this version.

        Raises
        ------
        InputError
            There is none, or it is of another version, or a file is missing or cut short.
        """
        try:
            found = json.loads((self.path / _DESCRIPTION).read_text(encoding="utf-8"))
            version = {key: found[key] for key in self.version}
            files = found["files"]
        except (OSError, ValueError, KeyError, TypeError):
            raise self.error(f"no whole {self.kind} of this version of calibrag") from None
        if version != self.version:
            raise self.error(f"{self.kind} must be {_listed(self.version)} (got {_listed(version)})")
        now = self._sizes()
        for name, size in files.items():
            if now.get(name) != size:
                raise self.error(
                    f"{self.kind} is damaged: {name} must hold {size} bytes (got {now.get(name, 'no file')})"
                )
        return found

    def error(self, problem: str) -> InputError:
        """Return an error about the index that says how to get another."""
        return InputError(self.path, f"{problem}; remove the folder and run the workflow again")

    def _sizes(self) -> dict[str, int]:
        # what a library keeps for itself, such as locks, has a dot in front
        files = (file for file in self.path.iterdir() if not file.name.startswith(".") and file.name != _DESCRIPTION)
        return {file.name: file.stat().st_size for file in sorted(files)}


class WriteError(Exception):
    """A library could not write; it says so by an exception that has no kind of its own."""


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in facts.items())
