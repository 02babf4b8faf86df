"""What surrounds the work of a rule's script: its log, its threads, and one clear message where it fails."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calibrag.errors import CalibragError


@contextmanager
def logged(path: str | Path) -> Iterator[logging.Logger]:
    """Send all that the block prints to a log file, progress bars and native libraries included.

    A CalibragError ends the process with its message alone, since the message says what to do; any other error
    keeps its traceback. Snakemake shows the log of a job that failed.
    """
    started = time.monotonic()
    with open(path, "w", buffering=1, encoding="utf-8") as log:
        # descriptors, not sys.stderr: tokenizers, faiss and tantivy write past Python
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", force=True)
    logging.captureWarnings(True)
    logger = logging.getLogger("calibrag")
    try:
        yield logger
    except CalibragError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    logger.info("done in %.1f s", time.monotonic() - started)


def where_results_lie(results: str | Path) -> str:
    """Return the closing lines of a run: what was made and where it lies."""
    folder = Path(results)
    kinds = {"tables": "*/*.md", "figures": "*/*.svg"}
    lines = [
        f"{kind:8} {folder / kind}/ ({', '.join(sorted(str(file.relative_to(folder / kind)) for file in files))})"
        for kind, pattern in kinds.items()
        if (files := list((folder / kind).glob(pattern)))
    ]
    return "\n".join(["", *lines, f"{'settings':8} {folder / 'run_config.yaml'}"])


def where_errors_lie(log: str | Path) -> str:
    """Return the closing lines of a run that failed: the logs of the jobs that failed."""
    text = Path(log).read_text(encoding="utf-8", errors="replace")
    paths = dict.fromkeys(re.findall(r"log: (\S.*?) \(check log file", text))
    return "\n".join(["", "Stopped. What went wrong stands in:", *(f"  {path}" for path in paths or [log])])
