"""TREC files in: qrels and runs, read strictly, so that a broken line stops a run instead of bending a mean."""

from __future__ import annotations

from pathlib import Path

from calibrag.errors import InputError
from calibrag.records import open_text

Qrels = dict[str, dict[str, int]]
"""qid -> passage id -> grade >= 0."""

Rankings = dict[str, list[str]]
"""qid -> passage ids, best first."""


def read_qrels(path: str | Path) -> Qrels:
    """Return the grades of a TREC qrels file (``qid 0 passage_id grade``).

    Raises
    ------
    InputError
        A line without four fields, a grade that is no integer >= 0, or a passage judged twice.
    """
    qrels: Qrels = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            fields = line.split()
            if len(fields) != 4:
                raise InputError(path, f"must be 'qid 0 passage_id grade' (got {len(fields)} fields)", number)
            qid, _, passage_id, grade = fields
            if not grade.isdecimal():
                raise InputError(path, f"must be an integer >= 0 (got {grade!r})", number, "grade")
            if passage_id in qrels.setdefault(qid, {}):
                raise InputError(path, f"question {qid} judges passage {passage_id} twice", number)
            qrels[qid][passage_id] = int(grade)
    return qrels


def read_rankings(path: str | Path) -> Rankings:
    """Return the rankings of a TREC run file (``qid Q0 passage_id rank score name``), plain, .gz or .xz.

    The rank column decides, not the score: trec_eval's habit of sorting by score and breaking ties by id would
    undo the order that a run filed.

    Raises
    ------
    InputError
        A line without six fields, a rank that is no integer >= 1 or comes twice in a question, or a passage
        that does.
    """
    ranked: dict[str, dict[int, str]] = {}
    seen: set[tuple[str, str]] = set()
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            fields = line.split()
            if len(fields) != 6:
                raise InputError(
                    path, f"must be 'qid Q0 passage_id rank score name' (got {len(fields)} fields)", number
                )
            qid, _, passage_id, rank, _, _ = fields
            if not rank.isdecimal() or int(rank) < 1:
                raise InputError(path, f"must be an integer >= 1 (got {rank!r})", number, "rank")
            of_question = ranked.setdefault(qid, {})
            if int(rank) in of_question:
                raise InputError(path, f"question {qid} has rank {rank} twice", number, "rank")
            if (qid, passage_id) in seen:
                raise InputError(path, f"question {qid} ranks passage {passage_id} twice", number)
            of_question[int(rank)] = passage_id
            seen.add((qid, passage_id))
    return {qid: [passages[rank] for rank in sorted(passages)] for qid, passages in ranked.items()}
