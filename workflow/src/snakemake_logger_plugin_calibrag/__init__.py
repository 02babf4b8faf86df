"""Snakemake's terminal output in one line a job: stage, rule, what it works on, its time, jobs done and time left.

Snakemake finds the module by its name; the default profile chooses it with ``logger: calibrag``. Without it
(``snakemake --cores 32 all``) Snakemake's own, longer output appears.
"""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_calibrag.timing import Timing, duration

_NOISE = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Complete log",
    "Conda environments: ignored",
    "Config file ",
    "host: ",
    "Provided ",
    "Rules claiming more threads",
    "Select jobs to execute",
    "Shutting down, this might",
    "Using shell: ",
    "Using workflow specific profile",
    "Elapsed time",
)
"""Beginnings of Snakemake's messages that say nothing about this run."""


class LogHandler(LogHandlerBase):
    """Writes the lines to the standard error stream; what it does not know it passes on."""

    def __post_init__(self) -> None:
        """Start with no jobs."""
        self.timing = Timing(Path("results/benchmarks"), clock=time.monotonic)
        self.stream = sys.stderr
        self.done = self.total = 0
        self.failed: set = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of a record, if it has one."""
        line = self.line(record)
        if line is not None:
            print(line, file=self.stream, flush=True)

    def line(self, record: logging.LogRecord) -> str | None:
        """Return what is shown of a record; None where nothing is."""
        match getattr(record, "event", None):
            case LogEvent.RUN_INFO:
                return self._plan(record.stats)
            case LogEvent.JOB_INFO:
                job = self.timing.start(record.jobid, record.rule_name, _stage(record.log), record.wildcards)
                return f"{'start':>9}  {job.label}"
            case LogEvent.JOB_FINISHED:
                job = self.timing.finish(record.job_id)
                self.done += 1
                return self._finished(job) if job else None
            case LogEvent.JOB_ERROR:
                return self._failed(record)
            case LogEvent.ERROR | None:
                return self._message(record)
        return None

    def _plan(self, stats: dict[str, int]) -> str:
        counts = {rule: count for rule, count in stats.items() if rule != "total"}
        self.total = sum(counts.values())
        self.timing.expect(counts)
        rules = ", ".join(f"{rule}{f' x{count}' if count > 1 else ''}" for rule, count in counts.items())
        left = self.timing.left()
        return f"{self.total} jobs{f', about {duration(left)}' if left else ''}: {rules}"

    def _finished(self, job) -> str:
        left = self.timing.left()
        ahead = f", about {duration(left)} left" if left is not None and self.done < self.total else ""
        return f"{f'{self.done}/{self.total}':>9}  {job.label}  {duration(job.seconds)}{ahead}"

    def _failed(self, record: logging.LogRecord) -> str | None:
        if record.jobid in self.failed:
            return None
        self.failed.add(record.jobid)
        self.timing.finish(record.jobid)
        lines = [f"{'FAILED':>9}  {record.rule_name}"]
        for path in map(Path, record.log or ()):
            lines.append(f"{'':11}{path}")
            if path.is_file():
                tail = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-30:]
                lines += [f"{'':11}| {line[-400:]}" for line in tail]
        return "\n".join(lines)

    def _message(self, record: logging.LogRecord) -> str | None:
        text = record.getMessage()
        if record.levelno < logging.INFO or not text.strip() or text == "None" or text.startswith(_NOISE):
            return None
        if text.startswith("RuleException:\nCalledProcessError"):
            return None  # the job's own log says more, and is shown
        return text

    @property
    def writes_to_stream(self) -> bool:
        """Return True: this is the terminal's output."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """Return False: Snakemake keeps its own log."""
        return False

    @property
    def has_filter(self) -> bool:
        """Return True: ``line`` decides."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Return True: ``line`` formats."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """Return False."""
        return False


def _stage(logs) -> str:
    """Return the stage from a log's path, ``results/logs/{stage}/...``."""
    parts = Path(str(logs[0])).parts if logs else ()
    return parts[parts.index("logs") + 1] if "logs" in parts[:-1] else ""
