"""What carries out the second step of naming: the names of a document that its passages refer to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from calibrag.corpus.naming.documents import Assigner
from calibrag.corpus.naming.references import assign


def open_assigner(settings: Mapping[str, Any]) -> Assigner:
    """Return what assigns the names of a document to its passages.

    Parameters
    ----------
    settings
        ``corpus.names.document`` of the configuration.
    """
    match settings["method"]:
        case "offline":
            return partial(assign, rules=settings["rules"], at_most=settings["at_most"])
        case method:
            raise ValueError(f"method must be offline (got {method})")
