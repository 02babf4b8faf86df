"""What an exporter may use of a system's work on a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from calibrag.evaluation.labels import Right
from calibrag.records import Question
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
    right
        Takes a qid and an answer, and says whether it is right.
    prompts
        SHA-256 -> text of the system prompts that the traces name.
    """

    questions: Sequence[Question]
    traces: Mapping[str, Sequence[Trace]]
    runs: Mapping[str, Sequence[RunEntry]]
    right: Right
    prompts: Mapping[str, str]
