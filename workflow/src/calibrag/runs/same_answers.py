"""Which answers of a question say the same: by their normalised words, or also by entailment in both directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from calibrag.errors import InputError
from calibrag.normalisation import answer_key
from calibrag.records import Record, read_jsonl

Same = Callable[[str, str], str]
"""Takes a qid and an answer, and returns the key under which equal answers to that question meet."""


class SameAnswers(Record):
    """Answers to a question that entail each other; ``keys`` are their `answer_key`, the earliest first."""

    qid: str
    keys: list[str]


def by_words(qid: str, answer: str) -> str:
    """Return the answer in its normalised form, `answer_key`."""
    return answer_key(answer)


def read_same_answers(paths: Iterable[str | Path]) -> Same:
    """Return the key of answers by the files of `match_answers`; `by_words` without any.

    Raises
    ------
    InputError
        An answer to a question stands in two groups.
    """
    first: dict[tuple[str, str], str] = {}
    for path in paths:
        for line, group in enumerate(read_jsonl(path, SameAnswers), start=1):
            for key in group.keys:
                if (group.qid, key) in first:
                    raise InputError(path, f"the answer {key!r} to {group.qid} stands in two groups", line, "keys")
                first[group.qid, key] = group.keys[0]

    def key_of(qid: str, answer: str) -> str:
        key = answer_key(answer)
        return first.get((qid, key), key)

    return key_of
