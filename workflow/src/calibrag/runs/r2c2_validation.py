"""Holding an R2C2 run to its format, its topics and its passage runs: every violation, with file, line and rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from calibrag.runs.r2c2 import AnswerBlock, PassageLine, Violation, is_answer_run, scan_answers, scan_passages

_PASSAGE_NAME = re.compile(r"[A-Za-z0-9]+-(PG|PO)-[1-9][0-9]*")


class CheckedRun(NamedTuple):
    """The violations by line, what the run is (``passages`` or ``answers``), and what is worth knowing beside them."""

    kind: str
    violations: list[Violation]
    notes: list[str]


def check_run(path: str | Path, topics: Collection[str], passage_runs: Sequence[str | Path]) -> CheckedRun:
    """Return every violation of a PR or AC run.

    Parameters
    ----------
    topics
        The qids that may be answered.
    passage_runs
        Files of the PR runs that nuggets may cite, named by the run: ``TEAM-PG-1.txt`` is ``TEAM-PG-1``. Of these, what
        cannot be read counts as not held.
    """
    path = Path(path)
    if is_answer_run(path):
        return _check_answers(path, topics, passage_runs)
    return _check_passages(path, topics)


def _check_passages(path: Path, topics: Collection[str]) -> CheckedRun:
    lines, violations = scan_passages(path)
    violations = [*_named(path), *violations, *_unknown(path, lines, topics)]
    notes = [f"topics read: {len({line.qid for line in lines})}, passages: {len(lines)}", *_unanswered(lines, topics)]
    return CheckedRun("passages", _ordered(violations), notes)


def _check_answers(path: Path, topics: Collection[str], passage_runs: Sequence[str | Path]) -> CheckedRun:
    blocks, violations = scan_answers(path)
    violations += _unknown(path, blocks, topics)
    first: dict[str, int] = {}
    for block in blocks:
        if block.qid in first:
            problem = f"{block.qid} has a block already on line {first[block.qid]}"
            violations.append(Violation(path, block.line, "topic-repeated", problem))
        first.setdefault(block.qid, block.line)
    cited = sum(len(block.nuggets) for block in blocks)
    notes = [f"topics read: {len(first)}, nuggets: {cited}", *_unanswered(blocks, topics)]
    if passage_runs:
        violations += _uncited(path, blocks, passage_runs)
    elif any(block.nuggets for block in blocks):
        notes.append("whether the passages that nuggets cite are held was not checked: no --pr-runs")
    return CheckedRun("answers", _ordered(violations), notes)


def _named(path: Path) -> list[Violation]:
    if _PASSAGE_NAME.fullmatch(path.stem):
        return []
    return [Violation(path, 0, "run-name", f"must be named TEAM-PG-n or TEAM-PO-n (got {path.stem!r})")]


def _unknown(path: Path, found: Iterable[PassageLine | AnswerBlock], topics: Collection[str]) -> list[Violation]:
    return [
        Violation(path, one.line, "topic-unknown", f"{one.qid!r} is none of the {len(topics)} topics")
        for one in found
        if one.qid not in topics
    ]


def _unanswered(found: Iterable[PassageLine | AnswerBlock], topics: Collection[str]) -> list[str]:
    """Return a note on topics that a run lacks, which is no violation: measures rest on those that are there."""
    absent = len(set(topics) - {one.qid for one in found})
    return [f"of the {len(topics)} topics {absent} are not among those read"] if absent else []


def _uncited(path: Path, blocks: Iterable[AnswerBlock], passage_runs: Sequence[str | Path]) -> list[Violation]:
    held = {Path(run).stem: {(line.qid, line.rank) for line in scan_passages(run)[0]} for run in passage_runs}
    violations = []
    for block in blocks:
        for nugget in block.nuggets:
            if nugget.passage_run not in held:
                problem = f"{nugget.passage_run!r} is none of the passage runs {', '.join(sorted(held))}"
                violations.append(Violation(path, nugget.line, "nugget-run", problem))
            elif (block.qid, nugget.rank) not in held[nugget.passage_run]:
                problem = f"{nugget.passage_run} holds no rank {nugget.rank} for topic {block.qid}"
                violations.append(Violation(path, nugget.line, "nugget-passage", problem))
    return violations


def _ordered(violations: Iterable[Violation]) -> list[Violation]:
    return sorted(violations, key=lambda violation: violation.line)
