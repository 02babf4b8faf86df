"""Passages with their names: two files in the order of the corpus, read in step, so that neither is held in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from calibrag.errors import InputError
from calibrag.records import Annotation, Passage


def with_names(
    passages: Iterable[Passage], annotations: Iterable[Annotation], file: str
) -> Iterator[tuple[Passage, list[Annotation]]]:
    """Yield each passage with its annotations; one without any comes with an empty list.

    Parameters
    ----------
    passages, annotations
        Both in the order of the corpus, all annotations of a passage together.
    file
        What errors name: where the annotations come from.

    Raises
    ------
    InputError
        Annotations are out of that order, or name a passage that is not among these.
    """
    groups = groupby(annotations, key=lambda annotation: annotation.passage_id)
    passage_id, group = next(groups, (None, ()))
    for passage in passages:
        if passage.passage_id != passage_id:
            yield passage, []
            continue
        yield passage, list(group)
        passage_id, group = next(groups, (None, ()))
    if passage_id is not None:
        problem = f"names of {passage_id} stand out of the corpus's order, or the passage is not in the corpus"
        raise InputError(file, f"{problem}; remove the file and run the workflow again")
