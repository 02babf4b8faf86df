"""Replies that were asked for before: an append-only cache that many processes share, also over a network file system.

A folder of JSON Lines files, one a process, so that no two processes ever write to one file and no lock is needed
(which is why this is no SQLite or diskcache: their locks do not hold on NFS). Each line is written by one call of
``write``; the line of a process that was killed meanwhile lacks its end and is passed over.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from calibrag.models.chat.seam import ChatModel, ChatRequest, Reply
from calibrag.models.chat.spending import Spending
from calibrag.records import Record

Mode = Literal["read", "read-write"]

_VERSION = 3
"""Part of each key; raised when requests or replies change their form."""
_LOOK_S = 1.0
"""Seconds between two looks at what others have written; one takes 15 ms in a folder of 1,000 files."""


class _Entry(Record):
    """A line of the cache."""

    key: str
    reply: Reply


_ENTRY = msgspec.json.Decoder(_Entry)


def key_of(name: str, revision: str, request: ChatRequest) -> str:
    """Return the SHA-256, in hex, of the model, its revision and the whole request with its sample index."""
    return hashlib.sha256(msgspec.json.encode([_VERSION, name, revision, request])).hexdigest()


class ResponseCache:
    """Replies by key. Texts stay on disk; of replies to one key the oldest file's first one counts, in every process.

    ``skipped`` counts lines that are whole but unreadable, and the ends of files that are not whole.

    Parameters
    ----------
    folder
        Where the files lie; made when the first reply is written.
    mode
        ``read`` never writes.
    clock
        Seconds that only rise.
    """

    def __init__(self, folder: str | Path, mode: Mode, clock: Callable[[], float] = time.monotonic):
        self.skipped = 0
        self._folder = Path(folder)
        self._mode = mode
        self._places: dict[str, tuple[Path, int, int]] = {}
        self._read: dict[Path, int] = {}
        self._torn: set[Path] = set()
        self._own: int | None = None
        self._own_path = self._folder
        self._clock = clock
        self.refresh()

    def get(self, key: str) -> Reply | None:
        """Return a reply; None where there is none. What other processes have written is seen a second later."""
        if key not in self._places and self._clock() - self._looked >= _LOOK_S:
            self.refresh()
        if key not in self._places:
            return None
        path, start, length = self._places[key]
        with path.open("rb") as stream:
            stream.seek(start)
            return _ENTRY.decode(stream.read(length)).reply

    def put(self, key: str, reply: Reply) -> None:
        """Append a reply, unless the mode is ``read``."""
        if self._mode == "read":
            return
        line = msgspec.json.encode(_Entry(key=key, reply=reply)) + b"\n"
        if self._own is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            # the time comes first: files in order of name are in order of age
            name = f"{time.time_ns():020}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            self._own_path = self._folder / name
            self._own = os.open(self._own_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        # unbuffered: once it returns, killing the process does not lose the line
        written = os.write(self._own, line)
        if written != len(line):
            # a full disk; a further line in this file would be joined to the stump
            self.close()
            raise OSError(f"{self._folder}: only {written} of {len(line)} bytes of a reply could be written")
        start = self._read.get(self._own_path, 0)
        self._places.setdefault(key, (self._own_path, start, written))
        self._read[self._own_path] = start + written

    def refresh(self) -> None:
        """Take in what has been written since the last look."""
        self._looked = self._clock()
        if not self._folder.is_dir():
            return
        for path in sorted(self._folder.glob("*.jsonl")):
            self._take_in(path)

    def close(self) -> None:
        """Close the file that this process writes."""
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _take_in(self, path: Path) -> None:
        start = self._read.get(path, 0)
        if path.stat().st_size == start:
            return
        with path.open("rb") as stream:
            stream.seek(start)
            for line in stream:
                if not line.endswith(b"\n"):
                    # another process may be writing it: looked at again next time
                    if path not in self._torn:
                        self._torn.add(path)
                        self.skipped += 1
                    break
                if path in self._torn:
                    self._torn.remove(path)
                    self.skipped -= 1
                try:
                    self._places.setdefault(_ENTRY.decode(line).key, (path, start, len(line)))
                except (msgspec.DecodeError, UnicodeDecodeError):
                    self.skipped += 1
                start += len(line)
        self._read[path] = start


class CachedChat:
    """A chat model that asks for nothing twice; equal requests that meet while one is on its way share its reply.

    Failures are not kept: the next run asks again.

    Parameters
    ----------
    chat
        The model; with its checks inside, so that no reply that fails them is kept.
    cache
        Where replies lie.
    spending
        Counts the replies that came from the cache, and the lines that could not be read.
    """

    def __init__(self, chat: ChatModel, cache: ResponseCache, spending: Spending):
        self.name = chat.name
        self.revision = chat.revision
        self.host = chat.host
        self._chat = chat
        self._cache = cache
        self._spending = spending
        self._under_way: dict[str, asyncio.Task[Reply]] = {}

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; see ``ChatModel``."""
        key = key_of(self.name, self.revision, request)
        task = self._under_way.get(key)
        if task is None:
            known = self._cache.get(key)
            if known is not None:
                return self._replayed(known)
            task = asyncio.create_task(self._ask(key, request))
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
            # shielded: who gives up waiting takes no reply from the others
            return await asyncio.shield(task)
        return self._replayed(await asyncio.shield(task))

    async def close(self) -> None:
        """Stop what is under way, close the model and the file that is written."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cache.close()
        self._spending.unreadable = self._cache.skipped
        await self._chat.close()

    def _ended(self, key: str, task: asyncio.Task[Reply]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled():
            task.exception()  # looked at, lest asyncio prints it where nobody waits any more

    async def _ask(self, key: str, request: ChatRequest) -> Reply:
        reply = await self._chat.complete(request)
        self._cache.put(key, reply)
        return reply

    def _replayed(self, reply: Reply) -> Reply:
        self._spending.replayed += 1
        return msgspec.structs.replace(reply, usage=msgspec.structs.replace(reply.usage, cached=True))
