"""Run files in the TREC format: ``qid Q0 passage_id rank score tag``, rank from 1."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from calibrag.errors import InputError
from calibrag.records import Hit, open_text

_FIELDS = ("qid", "Q0", "passage_id", "rank", "score", "tag")


def write_run(path: str | Path, rankings: Mapping[str, Sequence[Hit]], tag: str) -> None:
    """Write rankings as a TREC run; ``.gz`` is compressed; the file appears only when it is whole.

    A query without hits leaves no line: measures must be given the list of queries.

    Raises
    ------
    ValueError
        A name holds whitespace, or a ranking breaks what `read_run` demands.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # the suffix must survive, since it chooses the compression
    partial = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        with open_text(partial, "w") as out:
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
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


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
    number = 0
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                qid, hit = _parse(path, line, number)
                hits = rankings.setdefault(qid, [])
                held = seen.setdefault(qid, set())
                problem = _break(hit, hits[-1] if hits else None, held)
                if problem:
                    raise InputError(path, f"ranking of {qid}: {problem}", number)
                hits.append(hit)
                held.add(hit.passage_id)
    except (UnicodeDecodeError, EOFError, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise InputError(path, f"unreadable after line {number} ({error})") from error
    return rankings


def _parse(path: str | Path, line: str, number: int) -> tuple[str, Hit]:
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise InputError(path, f"must have the fields {' '.join(_FIELDS)} (got {len(fields)} fields)", number)
    qid, _, passage_id, rank, score, _ = fields
    if not (rank.isascii() and rank.isdigit()):
        raise InputError(path, f"must be an integer from 1 (got {rank!r})", number, "rank")
    try:
        value = float(score)
    except ValueError:
        raise InputError(path, f"must be a number (got {score!r})", number, "score") from None
    return qid, Hit(passage_id=passage_id, rank=int(rank), score=value)


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
