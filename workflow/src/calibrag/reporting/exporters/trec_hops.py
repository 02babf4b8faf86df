"""TREC runs, one for each search: ``pass-2/hop-3.txt`` holds what the third search of each second pass ranked."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from calibrag.records import Hit
from calibrag.reporting.exporters.material import Material
from calibrag.retrieval.runs import write_run
from calibrag.trace import SearchEvent


def export(material: Material, folder: Path) -> None:
    """Write the runs; the tag is ``system-pass-2-hop-3``.

    A question whose pass ended before that search, or whose search found nothing, is not in the run.
    """
    runs: dict[tuple[str, int, int], dict[str, list[Hit]]] = defaultdict(dict)
    for qid, traces in material.traces.items():
        for trace in traces:
            searches = (event for event in trace.events if isinstance(event, SearchEvent))
            for hop, event in enumerate(searches, start=1):
                runs[trace.system, trace.pass_number, hop][qid] = event.hits
    for (system, pass_number, hop), rankings in runs.items():
        place = f"pass-{pass_number}", f"hop-{hop}"
        write_run(folder.joinpath(*place).with_suffix(".txt"), rankings, "-".join((system, *place)))
