"""What an exporter may use of a system's work on a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from calibrag.corpus.store import PassageStore
from calibrag.evaluation.labels import Right
from calibrag.records import Passage, Question
from calibrag.retrieval.runs import Rankings
from calibrag.trace import RunEntry, Trace


class Material(NamedTuple):
    """The work of a system on a collection.

    Parameters
    ----------
    questions
        All that were asked.
    traces
        qid -> the traces of its passes, in their order.
    runs
        Name of an answer run, such as ``AC-1`` -> its entries.
    passage_runs
        Name of a passage run, such as ``PG-1`` -> its rankings.
    passages
        Passage id -> passage.
    right
        Takes a qid and an answer, and says whether it is right.
    prompts
        SHA-256 -> text of the system prompts that the traces name.
    team
        Name before those of runs in the format of R2C2.
    """

    questions: Sequence[Question]
    traces: Mapping[str, Sequence[Trace]]
    runs: Mapping[str, Sequence[RunEntry]]
    passage_runs: Mapping[str, Rankings]
    passages: Mapping[str, Passage] | PassageStore
    right: Right
    prompts: Mapping[str, str]
    team: str
