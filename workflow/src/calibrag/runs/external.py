"""Runs of others, ranked with ours: R2C2 runs of passages and answers, and TREC runs; a run has its file's name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from calibrag.errors import InputError
from calibrag.retrieval.runs import Rankings, read_rankings
from calibrag.runs import r2c2
from calibrag.trace import RunEntry


def read_external_answers(paths: Iterable[str | Path], qids: Collection[str]) -> list[RunEntry]:
    """Return the entries of the answer runs among the files, run after run, with confidences in [0, 1].

    Nuggets are left out: whether a passage entails those of others was not verified.

    Parameters
    ----------
    qids
        The questions that may be answered.

    Raises
    ------
    InputError
        A run breaks its format, has a question twice, or one that is not among them.
    """
    entries = []
    for path in paths:
        if not r2c2.is_answer_run(path):
            continue
        seen: set[str] = set()
        for block in r2c2.read_answers(path):
            if block.qid in seen or block.qid not in qids:
                problem = "comes twice" if block.qid in seen else "is none of the collection's questions"
                raise InputError(path, f"topic {block.qid} {problem}", block.line)
            seen.add(block.qid)
            entries.append(
                RunEntry(
                    run=Path(path).stem, qid=block.qid, answer=block.answer, confidence=block.confidence / 100,
                    nuggets=[], passage_run="none", origin=Path(path).name,
                )
            )  # fmt: skip
    return entries


def read_external_passages(paths: Iterable[str | Path], qids: Collection[str]) -> dict[str, Rankings]:
    """Return run -> its rankings, of the passage runs among the files.

    Raises
    ------
    InputError
        A run breaks its format, or has a question that is not among ``qids``.
    """
    runs = {}
    for path in paths:
        if r2c2.is_answer_run(path):
            continue
        rankings = read_rankings(path) if _is_trec_run(path) else r2c2.read_passages(path)
        if strange := sorted(set(rankings) - set(qids)):
            raise InputError(path, f"topic {strange[0]} is none of the collection's questions")
        runs[Path(path).stem] = rankings
    return runs


def _is_trec_run(path: str | Path) -> bool:
    """Return whether the first line that is not blank has the six fields of TREC, ``Q0`` the second of them."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        fields = next((line.split() for line in lines if line.strip()), [])
    return len(fields) == 6 and fields[1] == "Q0"
