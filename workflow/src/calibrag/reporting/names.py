"""The table of names: how many passages carry by origin, and how many of them are right."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

HEADINGS = {
    "collection": "collection",
    "origin": "origin",
    "passages": "passages",
    "names": "names",
    "names_a_passage": "names a passage",
    "without": "passages without",
    "share": "share of names",
    "later_share": "share in later passages",
    "n": "labelled passages",
    "n_missing": "missing",
    "labelled": "labelled names",
    "found": "annotated names",
    "ignored": "of them ignored",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "precision_partial": "P partial",
    "recall_partial": "R partial",
    "f1_partial": "F1 partial",
}
NOTES = (
    "Origin passage: the passage spells the name out; document: the passage refers to it without spelling it out.",
    "Later passages are those after the first of their document.",
    "P, R and F1 on passages labelled by hand, drawn more often where references are to be expected; partial lets a"
    " name pass that holds a right one or is a part of one. Missing: labels whose passage has another text. Ignored:"
    " annotated names that the label calls optional.",
    "BITEM reports just under half of its annotations from the document level.",
)
_KEYS = ["collection", "origin"]


def summarise_names(counts: Iterable[str | Path], accuracy: Iterable[str | Path]) -> pd.DataFrame:
    """Return one row a collection and origin: counts and shares, exact measures, partial ones; from CSV files."""
    numbers = _read(counts)
    measures = _read(accuracy)
    exact = measures[measures["match"] == "exact"].drop(columns="match")
    partial = measures.loc[measures["match"] == "partial", [*_KEYS, "precision", "recall", "f1"]]
    exact = exact.merge(partial, on=_KEYS, suffixes=("", "_partial"), validate="one_to_one")
    table = numbers.merge(exact, on=_KEYS, how="left", validate="one_to_one")
    # the row of both origins has no measures of its own; counts stay whole numbers beside it
    return table.astype(dict.fromkeys(["n", "n_missing", "labelled", "found", "ignored"], "Int64"))[list(HEADINGS)]


def _read(paths: Iterable[str | Path]) -> pd.DataFrame:
    return pd.concat([pd.read_csv(path, dtype={"collection": str}) for path in paths], ignore_index=True)
