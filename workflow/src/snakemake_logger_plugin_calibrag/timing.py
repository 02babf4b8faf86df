"""How long the jobs that remain will take, by what such jobs took.

``python -m snakemake_logger_plugin_calibrag.timing results/benchmarks`` writes the seconds that are shipped, from the
benchmarks of a run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

TYPICAL = Path(__file__).with_name("typical_seconds.tsv")
"""Seconds a job of each rule took in a run of the shipped configuration on two cores; used until a better is known."""

TARGETS = ("all", "tables")
"""Rules without work of their own."""


@dataclass
class Job:
    """A job as the terminal shows it; ``seconds`` is None until it has ended."""

    rule: str
    label: str
    started: float
    seconds: float | None = None


class Timing:
    """Keeps the time of jobs and estimates what is left.

    Parameters
    ----------
    benchmarks
        Folder of the benchmark files of earlier runs, ``{stage}/{rule}/...tsv`` or ``{stage}/{rule}.tsv``.
    clock
        Seconds that only rise.
    """

    def __init__(self, benchmarks: Path, clock: Callable[[], float]):
        self._clock = clock
        self._began = clock()
        self._jobs: dict[int, Job] = {}
        self._waiting: dict[str, int] = {}
        self._took: dict[str, list[float]] = {}
        self._earlier = typical_seconds() | seconds_by_rule(benchmarks)

    def expect(self, counts: Mapping[str, int]) -> None:
        """Take in how many jobs of each rule will run."""
        self._waiting = dict(counts)

    def start(self, jobid: int, rule: str, stage: str, wildcards: Mapping[str, str] | None) -> Job:
        """Return the job that starts now."""
        values = " ".join(str(value) for value in (wildcards or {}).values())
        label = f"{stage:12} {rule}{f' {values}' if values else ''}"
        job = self._jobs[jobid] = Job(rule, label, started=self._clock())
        return job

    def finish(self, jobid: int) -> Job | None:
        """Return the job that ends now; None where it is not known or has ended before."""
        job = self._jobs.get(jobid)
        if job is None or job.seconds is not None:
            return None
        job.seconds = self._clock() - job.started
        self._took.setdefault(job.rule, []).append(job.seconds)
        self._waiting[job.rule] = self._waiting.get(job.rule, 1) - 1
        return job

    def left(self) -> float | None:
        """Return the seconds until all jobs have ended, at the pace so far; None while a rule's time is unknown.

        The work that is left is divided by how many jobs ran side by side so far, at least one.
        """
        waiting = [rule for rule, count in self._waiting.items() if count > 0 and rule not in TARGETS]
        if not all(rule in self._took or rule in self._earlier for rule in waiting):
            return None
        work = sum(self._waiting[rule] * self._expected(rule) for rule in waiting)
        running = [job for job in self._jobs.values() if job.seconds is None]
        work -= sum(
            min(self._clock() - job.started, self._expected(job.rule)) for job in running if job.rule in waiting
        )
        done = sum(sum(seconds) for seconds in self._took.values())
        elapsed = self._clock() - self._began
        return max(0.0, work) / max(1.0, done / elapsed if elapsed > 0 else 1.0)

    def _expected(self, rule: str) -> float:
        return mean(self._took[rule]) if rule in self._took else self._earlier[rule]


def seconds_by_rule(benchmarks: Path) -> dict[str, float]:
    """Return the mean seconds of each rule's benchmark files."""
    found: dict[str, list[float]] = {}
    for path in sorted(benchmarks.rglob("*.tsv")):
        parts = path.relative_to(benchmarks).with_suffix("").parts
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(parts) > 1 and len(lines) > 1:
            found.setdefault(parts[1], []).append(float(lines[1].split("\t")[0]))
    return {rule: mean(seconds) for rule, seconds in found.items()}


def typical_seconds() -> dict[str, float]:
    """Return the shipped seconds of each rule."""
    lines = TYPICAL.read_text(encoding="utf-8").splitlines() if TYPICAL.is_file() else []
    return {rule: float(seconds) for rule, seconds in (line.split("\t") for line in lines if line.strip())}


def duration(seconds: float) -> str:
    """Return seconds as ``3 s``, ``1:05 min`` or ``2:05 h``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


if __name__ == "__main__":
    found = seconds_by_rule(Path(sys.argv[1]))
    TYPICAL.write_text("".join(f"{rule}\t{found[rule]:.1f}\n" for rule in sorted(found)), encoding="utf-8")
