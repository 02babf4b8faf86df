"""Work shared among processes, its results in the order of the work."""

from __future__ import annotations

import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawValue
from typing import TypeVar

from calibrag.errors import CalibragError

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], batches: Iterable[list[T]], workers: int, name: Callable[[T], str]) -> Iterator[R]:
    """Yield the result of ``work`` for each entry of each batch, in order; they depend in no way on ``workers``.

    Each worker holds one batch at a time. With one worker, the work is done in this process.

    Parameters
    ----------
    name
        What an error calls an entry, such as ``document Alien``.

    Raises
    ------
    CalibragError
        The work on an entry failed, or the process that did it was killed. The message names the entry; a traceback
        goes to stderr.
    """
    if workers == 1:
        for batch in batches:
            for entry in batch:
                try:
                    result = work(entry)
                except Exception as error:
                    traceback.print_exc()
                    raise _failed(name(entry), repr(error)) from error
                yield result
        return
    batches = iter(batches)
    lanes = [_Lane(work) for _ in range(workers)]
    busy: deque[tuple[_Lane, list[T]]] = deque()

    def give(lane: _Lane) -> None:
        if (batch := next(batches, None)) is not None:
            lane.send(batch)
            busy.append((lane, batch))

    try:
        for lane in lanes:
            give(lane)
        while busy:
            lane, batch = busy.popleft()
            results = lane.receive(batch, name)
            # it works on while the results are used
            give(lane)
            yield from results
    finally:
        for lane in lanes:
            lane.close()


def _failed(name: str, error: str) -> CalibragError:
    return CalibragError(f"{name}: the work on it failed ({error}); the lines above say where")


class _Lane:
    """A process that takes batches and gives back their results; if this process ends, it ends too."""

    def __init__(self, work: Callable):
        # fork: a script of Snakemake cannot be imported again, as the other ways of starting a process would
        context = get_context("fork")
        self._place = RawValue("l", 0)
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(work, other, self._connection, self._place), daemon=True)
        self._process.start()
        # the one copy left is the process's own: when it ends, receiving fails at once
        other.close()

    def send(self, batch: list) -> None:
        try:
            self._connection.send(batch)
        except BrokenPipeError:
            pass  # the process is gone, which `receive` reports

    def receive(self, batch: list, name: Callable) -> list:
        try:
            results, error = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            cause = signal.strsignal(-code) if code < 0 else f"exit status {code}"
            raise CalibragError(
                f"{name(batch[self._place.value])}: the process at work on it was stopped from outside ({cause}),"
                " perhaps for want of memory; give the job more memory or fewer threads"
            ) from None
        if error is not None:
            raise _failed(name(batch[len(results)]), error)
        return results

    def close(self) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.join()


def _serve(work: Callable, connection: Connection, parents_end: Connection, place) -> None:
    # the parent decides when to stop; its end is closed here, so that its death ends the waiting below
    parents_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while True:
        try:
            batch = connection.recv()
        except EOFError:
            return
        results, failure = [], None
        for place.value, entry in enumerate(batch):
            try:
                results.append(work(entry))
            except Exception as error:
                traceback.print_exc()
                failure = repr(error)
                break
        try:
            connection.send((results, failure))
        except BrokenPipeError:
            return
