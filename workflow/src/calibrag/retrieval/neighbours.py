"""The passages around those that a search found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from calibrag.records import Passage


class Surroundings(Protocol):
    """What knows the order of passages in documents: ``corpus.store.PassageStore``, or a test's own."""

    def neighbours(self, passage_id: str) -> tuple[Passage | None, Passage | None]:
        """Return the passages before and after one in its document; None at its ends."""


def around(
    found: Sequence[str], store: Surroundings, distance: int, excluded: Collection[str]
) -> dict[str, list[Passage]]:
    """Return found passage -> its neighbours in the order of the document, at most ``distance`` on each side.

    A passage that was found itself is no neighbour, and a neighbour of two comes once, with the better. Excluded
    passages are stepped over: the one behind is no nearer for that.
    """
    told = {*found, *excluded}
    around: dict[str, list[Passage]] = {}
    for passage_id in found:
        sides = []
        for side in (0, 1):
            walk, at = [], passage_id
            for _ in range(distance):
                neighbour = store.neighbours(at)[side]
                if neighbour is None:
                    break
                at = neighbour.passage_id
                if at not in told:
                    walk.append(neighbour)
                    told.add(at)
            sides.append(walk)
        around[passage_id] = sides[0][::-1] + sides[1]
    return around
