"""TREC files, read and written strictly: a broken line stops a run instead of bending a mean.

Runs: ``qid Q0 passage_id rank score tag``, rank from 1. Qrels: ``qid 0 passage_id grade``, grade from 0.
"""

from __future__ import annotations

import lzma
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from calibrag.errors import InputError
from calibrag.records import Hit, open_text, whole_file

Rankings = dict[str, list[str]]
"""qid -> passage ids, best first."""

Qrels = dict[str, dict[str, int]]
"""qid -> passage id -> grade >= 0."""

_RUN_FIELDS = ("qid", "Q0", "passage_id", "rank", "score", "tag")
_QRELS_FIELDS = ("qid", "0", "passage_id", "grade")


def write_run(path: str | Path, rankings: Mapping[str, Sequence[Hit]], tag: str) -> None:
    """Write rankings as a TREC run; ``.gz`` is compressed; the file appears only when it is whole.

    A query without hits leaves no line: measures must be given the list of queries.

    Raises
    ------
    ValueError
        A name holds whitespace, or a ranking breaks what `read_run` demands.
    """
    with whole_file(path) as partial, open_text(partial, "w") as out:
        for qid, hits in rankings.items():
            seen: set[str] = set()
            previous = None
            for hit in hits:
                for name in (qid, hit.passage_id, tag):
                    if not name or name.split() != [name]:
                        raise ValueError(f"names in a run must be non-empty and hold no whitespace (got {name!r})")
                problem = _break(hit, previous, seen)
                if problem:
                    raise ValueError(f"ranking of {qid}: {problem}")
                out.write(f"{qid} Q0 {hit.passage_id} {hit.rank} {hit.score!r} {tag}\n")
                seen.add(hit.passage_id)
                previous = hit


def read_run(path: str | Path) -> dict[str, list[Hit]]:
    """Return the rankings of a TREC run, each by rank; the lines of a query need not stand together.

    Raises
    ------
    InputError
        A line has not six fields, a rank is no integer or not the next one, a score is no finite number
        or higher than the one before, or a passage comes twice; names file, line and field.
    """
    rankings: dict[str, list[Hit]] = {}
    seen: dict[str, set[str]] = {}
    for number, (qid, _, passage_id, rank, score, _) in _rows(path, _RUN_FIELDS):
        hit = Hit(passage_id, _integer(path, number, "rank", rank), _number(path, number, "score", score))
        hits, held = rankings.setdefault(qid, []), seen.setdefault(qid, set())
        problem = _break(hit, hits[-1] if hits else None, held)
        if problem:
            raise InputError(path, f"ranking of {qid}: {problem}", number)
        hits.append(hit)
        held.add(passage_id)
    return rankings


def read_rankings(path: str | Path) -> Rankings:
    """Return the passage ids of a TREC run, see `read_run`."""
    return {qid: [hit.passage_id for hit in hits] for qid, hits in read_run(path).items()}


def write_qrels(path: str | Path, judged: Iterable[tuple[str, str, int]]) -> None:
    """Write judgements (qid, passage_id, grade) as TREC qrels; a CSV writer would alter quotes in ids."""
    with whole_file(path) as partial, open_text(partial, "w") as out:
        out.writelines(f"{qid} 0 {passage_id} {grade}\n" for qid, passage_id, grade in judged)


def read_qrels(path: str | Path) -> Qrels:
    """Return the grades of a TREC qrels file.

    Raises
    ------
    InputError
        A line without four fields, a grade that is no integer >= 0, or a passage judged twice.
    """
    qrels: Qrels = {}
    for number, (qid, _, passage_id, grade) in _rows(path, _QRELS_FIELDS):
        judged = qrels.setdefault(qid, {})
        if passage_id in judged:
            raise InputError(path, f"question {qid} judges passage {passage_id} twice", number)
        judged[passage_id] = _integer(path, number, "grade", grade)
    return qrels


def _rows(path: str | Path, names: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield number (from 1) and fields of each line that is not blank."""
    number = 0
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.split()
                if fields and len(fields) != len(names):
                    raise InputError(path, f"must have the fields {' '.join(names)} (got {len(fields)} fields)", number)
                if fields:
                    yield number, fields
    except (UnicodeDecodeError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InputError(path, f"unreadable after line {number} ({error})") from error


def _integer(path: str | Path, line: int, field: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(path, f"must be an integer >= 0 (got {text!r})", line, field)
    return int(text)


def _number(path: str | Path, line: int, field: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(path, f"must be a number (got {text!r})", line, field) from None


def _break(hit: Hit, previous: Hit | None, seen: set[str]) -> str | None:
    """Return how a hit breaks the ranking that it continues, or None."""
    expected = previous.rank + 1 if previous else 1
    if hit.rank != expected:
        return f"rank must be {expected} (got {hit.rank}): ranks count from 1 without a gap"
    if not math.isfinite(hit.score):
        return f"score must be finite (got {hit.score})"
    if previous and hit.score > previous.score:
        return f"score must not rise with the rank (got {hit.score} after {previous.score})"
    if hit.passage_id in seen:
        return f"passage {hit.passage_id} comes twice"
    return None
