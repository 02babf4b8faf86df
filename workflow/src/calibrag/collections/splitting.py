"""Which questions are for testing, tuning and training: a rule that depends on ids and a seed, never on order."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping


def draw_order(names: Iterable[str], seed: int) -> list[str]:
    """Return distinct names in a random order fixed by the seed; a name added later moves no other two."""
    return sorted(set(names), key=lambda name: (hashlib.sha256(f"{seed}:{name}".encode()).digest(), name))


def assign_splits(groups: Mapping[str, str], sizes: Mapping[str, int], rest: str, seed: int) -> dict[str, str]:
    """Return the split of each qid, groups kept whole.

    Groups are drawn in a seeded order and given to the first split that has fewer questions than its size, so a
    split may exceed its size by less than its last group; what remains goes to ``rest``.

    Parameters
    ----------
    groups
        The group of each qid (its own qid where questions stand alone).
    sizes
        Questions wanted by split, in the order in which splits are filled.
    """
    members: dict[str, list[str]] = {}
    for qid, group in groups.items():
        members.setdefault(group, []).append(qid)
    splits: dict[str, str] = {}
    filled = dict.fromkeys(sizes, 0)
    for group in draw_order(members, seed):
        split = next((name for name, size in sizes.items() if filled[name] < size), rest)
        if split in filled:
            filled[split] += len(members[group])
        splits.update(dict.fromkeys(members[group], split))
    return splits


def question_key(text: str) -> str:
    """Return a question's words, casefolded, without punctuation: equal for questions that are the same."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()))
