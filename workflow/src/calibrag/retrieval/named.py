"""Passages with their names: two files in the order of the corpus, read in step, so that neither is held in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from calibrag.corpus.store import read_annotations, read_passages
from calibrag.errors import InputError
from calibrag.records import Annotation, Passage

NamedPassage = tuple[Passage, Sequence[Annotation]]
"""A passage and its annotations in their order; none where it has no names."""


def read_named_passages(passages: str | Path, annotations: str | Path, shard: str = "1-of-1") -> Iterator[NamedPassage]:
    """Yield the passages of a file, or of one shard of it, each with its annotations.

    Parameters
    ----------
    annotations
        File of the annotations of all passages.
    shard
        As ``corpus.store.read_passages`` takes it.

    Raises
    ------
    InputError
        See `with_names`.
    """
    found = read_annotations(annotations)
    if shard != "1-of-1":
        wanted = {passage.passage_id for passage in read_passages(passages, shard)}
        found = (annotation for annotation in found if annotation.passage_id in wanted)
    return with_names(read_passages(passages, shard), found, str(annotations))


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
