"""Holding trace files to their schema and their rules: every break, with the place where it stands."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from calibrag.errors import InputError
from calibrag.execution.trace_rules import rules_for
from calibrag.execution.trace_rules.case import Case
from calibrag.execution.traces import prompts_beside
from calibrag.records import open_text
from calibrag.trace import Trace


class Violation(NamedTuple):
    """A break of a rule; ``qid`` and ``pass_number`` are None where the line could not be read."""

    file: Path
    line: int
    qid: str | None
    pass_number: int | None
    rule: str
    problem: str

    def __str__(self) -> str:
        whose = f"question {self.qid} pass {self.pass_number}: " if self.qid is not None else ""
        return f"{self.file}:{self.line}: {whose}{self.rule}: {self.problem}"


class Checked(NamedTuple):
    """The violations, by file and line, and the number of traces that could be read."""

    violations: list[Violation]
    traces: int


class _Place(NamedTuple):
    file: Path
    line: int
    trace: Trace


def check_traces(paths: Iterable[str | Path]) -> Checked:
    """Return every violation of the schema (rule ``schema``) and of ``trace_rules.RULES`` in trace files.

    Files of several passes, shards and systems may be mixed; passes are held against the earlier ones among the files.
    """
    violations: list[Violation] = []
    places: list[_Place] = []
    prompts = {}
    for path in map(Path, paths):
        try:
            prompts[path] = prompts_beside(path)
        except InputError as error:
            violations.append(Violation(path, 0, None, None, "prompts", str(error)))
            prompts[path] = None
        for item in _read(path):
            (places if isinstance(item, _Place) else violations).append(item)
    questions: dict[tuple[str, str, str], list[_Place]] = {}
    for place in places:
        trace = place.trace
        questions.setdefault((trace.collection, trace.system, trace.qid), []).append(place)
    for question in questions.values():
        question.sort(key=attrgetter("trace.pass_number"))
        for number, (file, line, trace) in enumerate(question):
            case = Case(trace, [place.trace for place in question[:number]], prompts[file])
            for name, rule in rules_for(trace).items():
                violations += (Violation(file, line, trace.qid, trace.pass_number, name, p) for p in rule(case))
    order = {file: number for number, file in enumerate(prompts)}
    violations.sort(key=lambda violation: (order[violation.file], violation.line))
    return Checked(violations, len(places))


def _read(path: Path) -> Iterator[_Place | Violation]:
    """Yield the trace of each line that is not blank, or what keeps it from being one."""
    decoder = msgspec.json.Decoder(Trace)
    number = 0
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    yield _Place(path, number, decoder.decode(line))
                except msgspec.DecodeError as error:
                    yield Violation(path, number, None, None, "schema", str(error))
    except (UnicodeDecodeError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        yield Violation(path, number + 1, None, None, "schema", f"unreadable from here on ({error})")
