"""What surrounds the work of a rule's script: its log, its progress, and one clear message where it fails."""

from __future__ import annotations

import errno
import logging
import os
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TextIO, TypeVar

from calibrag.errors import CalibragError

T = TypeVar("T")

_FULL = (errno.ENOSPC, errno.EDQUOT)


class Job:
    """A running job: it says what it does in its log and, where the work is long, on the terminal.

    Parameters
    ----------
    name
        What the terminal calls it.
    log, terminal
        Where lines go.
    every
        Seconds between two lines about progress.
    clock
        Seconds that only rise.
    """

    def __init__(
        self, name: str, log: TextIO, terminal: TextIO, every: float = 10.0, clock: Callable[[], float] = time.monotonic
    ):
        self.name = name
        self.every = every
        self._log = log
        self._terminal = terminal
        self._clock = clock
        self._started = clock()

    def info(self, message: str) -> None:
        """Write a line to the log."""
        print(f"[{self._elapsed()}] {message}", file=self._log, flush=True)

    def progress(self, items: Iterable[T], unit: str, total: int | None = None) -> Iterator[T]:
        """Yield the items; say now and then how many are done, see ``counter``."""
        count = self.counter(unit, total)
        for item in items:
            yield item
            count(item)

    def counter(self, unit: str, total: int | None = None, detail: object = "") -> Callable[[object], None]:
        """Return what to call with each finished item: it says now and then how many are done and how many are left.

        Parameters
        ----------
        unit
            What is counted, such as ``passages``.
        total
            How many there are; None where it is not known, which leaves the time left out.
        detail
            What else is said each time, by ``str``.
        """
        start = said = self._clock()
        done = 0

        def count(_: object) -> None:
            nonlocal said, done
            done += 1
            now = self._clock()
            if now - said >= self.every:
                said = now
                self.report(done, unit, total, now - start, str(detail))

        return count

    def report(self, count: int, unit: str, total: int | None, seconds: float, detail: str = "") -> None:
        """Write one line about progress to the log and to the terminal."""
        speed = count / seconds
        rate = f"{speed:,.1f} {unit} a second" if speed >= 1 else f"{1 / speed:,.1f} s each"
        done = f"{count:,} of {total:,} {unit}" if total else f"{count:,} {unit}"
        left = f", {_duration((total - count) / speed)} left" if total else ""
        more = f"; {detail}" if detail else ""
        self.info(f"{done}, {rate}{left}{more}")
        print(f"  {self.name}: {done}, {rate}{left}{more}", file=self._terminal, flush=True)

    def _elapsed(self) -> str:
        return _duration(self._clock() - self._started)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def logged(path: str | Path) -> Iterator[Job]:
    """Send all that the block prints to a log file, native libraries included, and yield its ``Job``.

    A CalibragError ends the process with its message alone, since the message says what to do, and so does a full
    disk; any other error keeps its traceback. Snakemake shows the log of a job that failed.
    """
    # descriptors, not sys.stderr: tokenizers, faiss and tantivy write past Python
    terminal = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8")
    with open(path, "w", encoding="utf-8") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", force=True)
    logging.captureWarnings(True)
    job = Job(_name_of(Path(path)), sys.stderr, terminal)
    try:
        yield job
        job.info("done")
    except CalibragError as error:
        _fail(f"{type(error).__name__}: {error}", terminal)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            _fail(f"CalibragError: no room left to write ({error}); make room and run the workflow again", terminal)
        _fail(traceback.format_exc().rstrip(), terminal)


def _fail(message: str, terminal: TextIO) -> NoReturn:
    """End the process with a message in the log, or on the terminal where the log's disk has no room for it either."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        print(message, file=terminal, flush=True)
    sys.exit(1)


def _name_of(log: Path) -> str:
    """Return rule and wildcards from a log path: ``results/logs/corpus/chunk_documents/film.log``."""
    parts = log.with_suffix("").parts
    # behind logs/ and the stage
    return " ".join(parts[parts.index("logs") + 2 :] if "logs" in parts else parts[-1:])


# --- the workflow's first and last lines -------------------------------------------------------------------


def check_writable(results: str | Path) -> None:
    """Raise unless the results folder, or the folder that it will be made in, can be written to.

    Raises
    ------
    CalibragError
        It is a file, or this user must not write there; without this check, Snakemake ends in a traceback.
    """
    folder = Path(results).absolute()
    if folder.exists() and not folder.is_dir():
        raise CalibragError(
            f"{folder}: must be a folder (found a file); move it away, or run with --directory elsewhere"
        )
    place = folder if folder.exists() else folder.parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise CalibragError(
            f"{place}: this user must not write there; make it writable (chmod u+w {place}), or run with --directory"
            " elsewhere"
        )


def where_results_lie(results: str | Path) -> str:
    """Return the closing lines of a run: what lies where."""
    folder = Path(results)
    lines = [""]
    lines += [f"{'results':9}{page}" for page in sorted(folder.glob("tables/*/index.html"))]
    for kind, pattern in (("tables", "*/*.md"), ("figures", "*/*.svg")):
        counts = Counter(file.parent for file in sorted((folder / kind).glob(pattern)))
        lines += [f"{kind:9}{place}/: {count}" for place, count in counts.items()]
    lines += [f"{'traces':9}{page}" for page in sorted(folder.glob("*/*/pages/index.html"))]
    for kind, file in (("settings", "run_config.yaml"), ("logs", "logs/"), ("report", "report.html")):
        if (folder / file).exists():
            lines.append(f"{kind:9}{folder}/{file}")
    return "\n".join(lines)


def where_errors_lie(logs: str | Path | Sequence[str | Path]) -> str:
    """Return the closing lines of a run that failed: the logs of the jobs that failed.

    Parameters
    ----------
    logs
        Snakemake's own log, or several.
    """
    own = [logs] if isinstance(logs, str | Path) else list(logs)
    text = "".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in own)
    failed = dict.fromkeys(re.findall(r"log: (\S.*?) \(check log file", text))
    return "\n".join(["", "Stopped. What went wrong stands in:", *(f"  {path}" for path in failed or own)])
