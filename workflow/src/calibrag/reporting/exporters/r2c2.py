"""Runs as NTCIR-19 R2C2 takes them: ``topics.xml``, ``TEAM-PG-n.txt`` and ``TEAM-AC-n.txt`` (spec/bitem section 5).

Answer runs are numbered in their order, so that as shipped AC-1 to AC-3 are those of the paper; ``runs.csv`` says which
run each file is. The docIDs are our passage ids, and the nuggets the claims that a run files, each with the rank of its
passage; where more than 20 passages are filed, the first 20 and the nuggets from them. Confidences are whole numbers of
percent: runs that differ by less are filed alike.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from calibrag.records import whole_file
from calibrag.reporting.exporters.material import Material
from calibrag.runs import r2c2
from calibrag.runs.r2c2 import AnswerBlock, CitedNugget
from calibrag.trace import RunEntry


def export(material: Material, folder: Path) -> None:
    """Write the topics, the runs and ``runs.csv``. A question that failed is not in the runs."""
    r2c2.write_topics(folder / "topics.xml", material.questions)
    files = []
    for run, rankings in material.passage_runs.items():
        files.append((f"{material.team}-{run}.txt", run))
        filed = {
            qid: [(one, material.passages[one].text) for one in ranked[: r2c2.MOST_PASSAGES]]
            for qid, ranked in rankings.items()
        }
        r2c2.write_passages(folder / files[-1][0], filed)
    for number, (run, entries) in enumerate(material.runs.items(), start=1):
        files.append((f"{material.team}-AC-{number}.txt", run))
        r2c2.write_answers(folder / files[-1][0], _blocks(entries, material.passage_runs, material.team))
    with whole_file(folder / "runs.csv") as partial, open(partial, "w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([("file", "run"), *files])


def _blocks(
    entries: Sequence[RunEntry], passage_runs: Mapping[str, Mapping[str, Sequence[str]]], team: str
) -> Iterator[AnswerBlock]:
    for entry in entries:
        ranked = passage_runs[entry.passage_run].get(entry.qid, ())[: r2c2.MOST_PASSAGES]
        ranks = {passage_id: rank for rank, passage_id in enumerate(ranked, start=1)}
        cited = [
            CitedNugget(0, f"{team}-{entry.passage_run}", ranks[nugget.passage_id], nugget.claim)
            for nugget in entry.nuggets
            if nugget.passage_id in ranks
        ]
        yield AnswerBlock(0, entry.qid, entry.answer, r2c2.percent(entry.confidence), cited)
