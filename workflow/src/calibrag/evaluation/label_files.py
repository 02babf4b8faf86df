"""Files of labels: what a person, a model or a log says of answers, and what waits for a person."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from calibrag.errors import InputError
from calibrag.evaluation.csv_files import write_rows
from calibrag.evaluation.labels import Conflict, Decision, Given, Label, Labels, Place
from calibrag.normalisation import answer_key
from calibrag.records import Question, read_jsonl

REVIEW_COLUMNS = ("qid", "question", "gold", "answer", "filed", "right")
COUNT_COLUMNS = ("collection", "system", "source", "n", "n_decided", "n_compared", "n_differ")

_YES = {"yes", "true", "1", "right", "y"}
_NO = {"no", "false", "0", "wrong", "n"}


def read_labels(path: str | Path) -> Labels:
    """Return the labels of a file of `Label` lines."""
    return Labels(read_jsonl(path, Label))


def read_opinions(
    reviewed: Iterable[str | Path], judged: Iterable[str | Path], logged: Iterable[str | Path], given: Given
) -> dict[str, dict[Place, bool]]:
    """Return source -> place -> whether the answer is right: ``review``, ``judge`` and ``log NAME`` for a log's names.

    Parameters
    ----------
    reviewed
        Review files, see `read_review`.
    judged
        Files of `Label` lines, what a model said.
    logged
        What logs say of their answers, see `read_log_labels`.
    """
    judgements = (label for path in judged for label in read_jsonl(path, Label))
    said = {
        "review": {place: right for path in reviewed for place, right in read_review(path).items()},
        "judge": {(label.qid, answer_key(label.answer)): label.right for label in judgements},
    }
    for path in logged:
        said |= {f"log {name}": known for name, known in read_log_labels(path, given.by_pass).items()}
    return said


def read_review(path: str | Path) -> dict[Place, bool]:
    """Return whether each answer is right of the rows of a review file that a person filled in.

    A CSV file as `write_undecided` writes it and spreadsheets save it, with or without a byte order mark.

    Raises
    ------
    InputError
        A column is missing, a value of ``right`` is neither yes nor no, or two rows disagree on an answer.
    """
    reviewed: dict[Place, bool] = {}
    with open(path, encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream)
        if missing := sorted({"qid", "answer", "right"} - set(rows.fieldnames or ())):
            problem = (
                f"must have the columns {', '.join(REVIEW_COLUMNS)}, joined by commas (lacks {', '.join(missing)})"
            )
            raise InputError(path, problem, 1)
        for row in rows:
            said = (row["right"] or "").strip().casefold()
            if not said:
                continue
            if said not in _YES | _NO:
                raise InputError(path, f"must be yes, no or empty (got {row['right']!r})", rows.line_num, "right")
            place = row["qid"], answer_key(row["answer"])
            if reviewed.setdefault(place, said in _YES) != (said in _YES):
                problem = f"must judge an answer once (got yes and no for {row['answer']!r} to {row['qid']})"
                raise InputError(path, problem, rows.line_num, "right")
    return reviewed


def read_log_labels(path: str | Path, by_pass: Mapping[tuple[str, int], str]) -> dict[str, dict[Place, bool]]:
    """Return name -> place -> whether a log calls its answer right.

    Of a CSV file with the columns qid, pass, name and value (`execution.imported.reading.write_verdicts`); a name with
    values other than 0 and 1 is a score and left out. Where a log says both of an answer that several passes gave, the
    first counts.

    Parameters
    ----------
    by_pass
        (qid, pass) -> the answer that the pass ended with.
    """
    with open(path, encoding="utf-8", newline="") as stream:
        rows = [(row["name"], row["qid"], int(row["pass"]), float(row["value"])) for row in csv.DictReader(stream)]
    scores = {name for name, *_, value in rows if value not in (0, 1)}
    labels: dict[str, dict[Place, bool]] = {}
    for name, qid, number, value in rows:
        if name not in scores and (answer := by_pass.get((qid, number))) is not None:
            labels.setdefault(name, {}).setdefault((qid, answer_key(answer)), value == 1)
    return labels


def write_undecided(
    path: str | Path, undecided: Iterable[tuple[Question, str]], filed_by: Mapping[Place, Sequence[str]]
) -> None:
    """Write what waits for a person, one row an answer with the runs that file it; the column ``right`` is theirs."""
    filed = ((question, answer, filed_by.get((question.qid, answer_key(answer)), ())) for question, answer in undecided)
    write_rows(
        path,
        REVIEW_COLUMNS,
        ((q.qid, q.text, " | ".join(q.answers), answer, " ".join(runs), "") for q, answer, runs in filed),
    )


def write_conflicts(path: str | Path, conflicts: Iterable[Conflict]) -> None:
    """Write where sources disagree, one row a disagreement."""
    write_rows(path, Conflict._fields, conflicts)


def write_counts(path: str | Path, decision: Decision, collection: str, system: str) -> None:
    """Write `Decision.counts`, one row a source, each with how many answers have a label."""
    head = collection, system
    write_rows(
        path, COUNT_COLUMNS, ((*head, source, len(decision.labels), *counts) for source, *counts in decision.counts())
    )
