"""How right names are: counts by origin, and precision and recall on passages labelled by hand."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from calibrag.corpus.annotation import clean_name
from calibrag.corpus.naming.documents import InOrder
from calibrag.normalisation import words
from calibrag.records import Annotation, Passage, Record

ORIGINS = {"passage": "spelled", "document": "referred"}
"""Origin of an annotation -> the field of a label that it is measured against."""


BOTH = "both"


class Label(Record):
    """The names of one passage as a person sees them; workflow/resources/names/README.md has the rules."""

    collection: str
    doc_id: str
    ordinal: int
    text_sha256: str
    begins: str
    spelled: list[list[str]]
    referred: list[list[str]]
    optional: list[str]


def count_names(passages: Iterable[Passage], annotations: Iterable[Annotation]) -> list[dict[str, Any]]:
    """Return one row an origin, and one for both: names a passage, passages without any, shares of all names.

    ``later_share`` is the origin's share of the names of the passages after the first one of their document, where
    references without the name are to be expected; None where there are no such names.
    """
    stream = InOrder(annotations)
    passages_seen = 0
    names, later, carriers = Counter(), Counter(), Counter()
    for passage in passages:
        passages_seen += 1
        origins = [annotation.origin for annotation in stream.take(passage.passage_id)]
        origins += [BOTH] * len(origins)
        names.update(origins)
        carriers.update(set(origins))
        if passage.ordinal > 0:
            later.update(origins)
    stream.check_empty()
    return [
        {
            "origin": origin,
            "passages": passages_seen,
            "names": names[origin],
            "names_a_passage": _ratio(names[origin], passages_seen),
            "without": _ratio(passages_seen - carriers[origin], passages_seen),
            "share": _ratio(names[origin], names[BOTH]),
            "later_share": _ratio(later[origin], later[BOTH]),
        }
        for origin in (*ORIGINS, BOTH)
    ]


def score_names(
    labels: Iterable[Label], passages: Iterable[Passage], annotations: Iterable[Annotation]
) -> list[dict[str, Any]]:
    """Return one row an origin and a way of matching: precision, recall and F1 over all names of the labelled passages.

    ``exact`` compares names without regard to case, punctuation, article and possessive; ``partial`` lets a name pass
    that holds a right form or is a part of one. Names that the label calls optional count neither way. Measures are
    None where they have no denominator. ``n`` counts the labels whose passage is there, ``n_missing`` the others: those
    whose passage has gone or has another text.
    """
    wanted = {(label.doc_id, label.ordinal): label for label in labels}
    present: dict[str, Label] = {}
    for passage in passages:
        label = wanted.get((passage.doc_id, passage.ordinal))
        if label is not None and label.text_sha256 == hashlib.sha256(passage.text.encode()).hexdigest():
            present[passage.passage_id] = label
    found: dict[tuple[str, str], list[str]] = {}
    for annotation in annotations:
        if annotation.passage_id in present:
            found.setdefault((annotation.passage_id, annotation.origin), []).append(annotation.name)
    rows = []
    for origin, field in ORIGINS.items():
        pairs = [
            (getattr(label, field), label.optional, found.get((passage_id, origin), ()))
            for passage_id, label in present.items()
        ]
        for match, alike in (("exact", _equal), ("partial", _overlap)):
            counts = {"n": len(present), "n_missing": len(wanted) - len(present)}
            rows.append({"origin": origin, "match": match} | counts | _measures(pairs, alike))
    return rows


def _measures(pairs: Iterable[tuple[Sequence[Sequence[str]], Sequence[str], Sequence[str]]], alike) -> dict[str, Any]:
    labelled = right = recalled = wrong = ignored = 0
    for names, optional, found in pairs:
        wanted = [[_key(form) for form in forms] for forms in names]
        optional_keys = {_key(name) for name in optional}
        keys = [_key(name) for name in found]
        labelled += len(wanted)
        recalled += sum(any(alike(form, key) for form in forms for key in keys) for forms in wanted)
        for key in keys:
            if any(alike(form, key) for forms in wanted for form in forms):
                right += 1
            elif key in optional_keys:
                ignored += 1
            else:
                wrong += 1
    precision, recall = _ratio(right, right + wrong), _ratio(recalled, labelled)
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {
        "labelled": labelled,
        "found": right + wrong + ignored,
        "ignored": ignored,
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


def _key(name: str) -> tuple[str, ...]:
    return tuple(words(clean_name(name) or name))


def _equal(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return one == other


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    short, long = sorted((one, other), key=len)
    return bool(short) and any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
