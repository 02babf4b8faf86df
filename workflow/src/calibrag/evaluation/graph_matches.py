"""What the co-occurrence graph gave a system's searches, and what of it was filed (spec/bitem section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from calibrag.records import Hit
from calibrag.trace import SearchEvent, Trace

COLUMNS = [
    "run",
    "searches",
    "matched",
    "share_matched",
    "returned",
    "returned_by_graph",
    "returned_by_graph_alone",
    "filed",
    "filed_by_graph",
    "filed_by_graph_alone",
]


def graph_report(
    traces: Mapping[str, Sequence[Trace]], runs: Mapping[str, Mapping[str, Sequence[Hit]]]
) -> pd.DataFrame:
    """Return one row a passage run, columns `COLUMNS`.

    ``searches`` of all passes, those that the graph ``matched``, and their share (None without a search). Passages
    are counted once a question: those that the searches ``returned``, those of them in whose ranking the graph had a
    part, and those that no search found by words or vectors as well; then the same of the passages ``filed``.

    Parameters
    ----------
    traces
        qid -> the traces of its passes.
    runs
        Name of a run -> its rankings.
    """
    searches = [
        (qid, event)
        for qid, passes in traces.items()
        for trace in passes
        for event in trace.events
        if isinstance(event, SearchEvent)
    ]
    sources: dict[tuple[str, str], set[str]] = {}
    for qid, event in searches:
        for hit, names in zip(event.hits, event.sources, strict=True):
            sources.setdefault((qid, hit.passage_id), set()).update(names.split())
    by_graph = {key for key, names in sources.items() if "graph" in names}
    alone = {key for key in by_graph if sources[key] == {"graph"}}
    matched = sum(bool(event.graph_names) for _, event in searches)
    rows = []
    for run, rankings in runs.items():
        filed = {(qid, hit.passage_id) for qid, hits in rankings.items() for hit in hits}
        share = matched / len(searches) if searches else None
        counts = [len(part) for part in (sources, by_graph, alone, filed, filed & by_graph, filed & alone)]
        rows.append([run, len(searches), matched, share, *counts])
    return pd.DataFrame(rows, columns=COLUMNS)
