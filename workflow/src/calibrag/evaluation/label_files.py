"""Files of labels: what a person, a model or a log says of answers, and what waits for a person."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from calibrag.errors import CalibragError, InputError
from calibrag.evaluation.csv_files import write_rows
from calibrag.evaluation.labels import Conflict, Decision, Given, Label, Labels, Place
from calibrag.normalisation import answer_key
from calibrag.records import Question, read_jsonl

REVIEW_COLUMNS = ("qid", "question", "gold", "answer", "filed", "right")
COUNT_COLUMNS = ("collection", "system", "source", "n", "n_decided", "n_compared", "n_differ", "n_undecided_right")

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
        The file is no CSV in UTF-8, a column is missing or there twice, a row is short or long or names no answer, a
        value of ``right`` is neither yes nor no, or two rows disagree on an answer.
    """
    reviewed: dict[Place, bool] = {}
    for line, row in _review_rows(path):
        said = row["right"].strip().casefold()
        if not said:
            continue
        if said not in _YES | _NO:
            raise InputError(path, f"must be yes, no or empty (got {row['right']!r})", line, "right")
        if not row["answer"].strip():
            raise InputError(path, "must be the answer that is judged (got none)", line, "answer")
        place = row["qid"].strip(), answer_key(row["answer"])
        if reviewed.setdefault(place, said in _YES) != (said in _YES):
            problem = f"must judge an answer once (got yes and no for {row['answer']!r} to {row['qid']})"
            raise InputError(path, problem, line, "right")
    return reviewed


def _review_rows(path: str | Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a review file, each with the number of its last line; raises InputError as `read_review`."""
    line = 1
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            # strict: a quote that nobody closed would swallow the rows behind it
            rows = csv.DictReader(stream, strict=True)
            names = rows.fieldnames or []
            if wrong := [name for name in ("qid", "answer", "right") if names.count(name) != 1]:
                wanted = f"the columns {', '.join(REVIEW_COLUMNS)}, joined by commas, each once"
                raise InputError(path, f"must have {wanted} (got {', '.join(names)}; see {', '.join(wrong)})", 1)
            for row in rows:
                line = rows.line_num
                if None in row or None in row.values():
                    raise InputError(path, f"must have {len(names)} cells, as the first line has", line)
                yield line, row
    except UnicodeDecodeError:
        raise InputError(path, "must be saved as CSV in UTF-8 (found another encoding)") from None
    except csv.Error as error:
        raise InputError(path, f"must be CSV ({error}); the row begins behind this line", line) from None


def describe_reviewed(reviewed: Collection[Place], questions: Iterable[Question], given: Given) -> str:
    """Return how many reviewed answers there are, and how many of them go unused here, as a line for the log.

    Raises
    ------
    CalibragError
        None of them is to a question of the collection: their ids are those of another, or a spreadsheet changed them.
    """
    known = {question.qid for question in questions}
    strange = sorted({qid for qid, _ in reviewed} - known)
    if reviewed and not any(qid in known for qid, _ in reviewed):
        raise CalibragError(
            "the reviewed answers must be to questions of the collection (found none, but qids such as "
            f"{strange[0]!r}); keep the column qid as undecided.csv has it"
        )
    places = {(qid, answer_key(answer)) for qid, answers in given.answers.items() for answer in answers}
    unused = sum(place not in places for place in reviewed)
    return (
        f"{len(reviewed)} answers reviewed, {unused} of them given by no pass or run of this system; "
        f"{len(strange)} qids of them are of no question"
    )


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
