"""A chat model on this machine: llama.cpp over a GGUF file, started at the first call, stopped at the close."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import tempfile
from importlib.util import find_spec
from typing import IO

import msgspec

from calibrag.errors import MissingModelError, ModelCallError
from calibrag.models.chat import embedded_process
from calibrag.models.chat.openai_api import OpenAIChat
from calibrag.models.chat.retrying import Retrying
from calibrag.models.chat.seam import ChatRequest, Reply
from calibrag.models.locate import locate

_LAST_WORDS = 600
"""Bytes of the server's log that an error quotes."""
_DYING_S = 1.0
"""How long a process whose connection broke is given to be found dead."""


class EmbeddedSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``models.chat.embedded`` of the configuration: the weights, and what each server takes of this machine.

    With one slot and no prompt cache a reply depends on its request alone; with more, sums are taken in another order
    with the requests that share a batch, or with the part of a prompt that an earlier one left behind, and now and then
    another token wins.
    """

    weights: str
    context: int
    slots: int
    threads: int
    prompt_cache: bool
    start_s: float


class EmbeddedChat:
    """A chat model in a process of its own; where that crashes, a new one is started and asked again.

    Connections and process belong to the event loop that first calls; `close` before another loop does.

    Parameters
    ----------
    name, revision
        The model, as records and the cache call it.
    settings
        The weights and the server.
    timeout_s
        Longest time of one attempt; waiting for a slot does not count.
    max_attempts
        Servers started for one call, 1 or more.
    """

    def __init__(self, name: str, revision: str, settings: EmbeddedSettings, *, timeout_s: float, max_attempts: int):
        self.name = name
        self.revision = revision
        # the port is another one each time, and would make equal errors differ
        self.host = "127.0.0.1"
        self._settings = settings
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._server: _Server | None = None
        self._starting: asyncio.Task[_Server] | None = None

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; see ``ChatModel``.

        Raises
        ------
        MissingModelError
            The package or the weights are not on this machine.
        ModelCallError
            The server does not start, crashes at each attempt, or the model knows no tools, among others.
        """
        for attempt in range(1, self._max_attempts + 1):
            server = await self._running()
            if request.tools and not server.tools:
                problem = (
                    "the model's chat template knows no tools; ask for JSON instead, or set"
                    " models.chat.embedded.weights to a model that does"
                )
                raise self._error("invalid", problem)
            try:
                reply = await server.chat.complete(request)
            except ModelCallError as error:
                if error.fault not in ("unreachable", "malformed") or not await server.is_dead():
                    raise
            else:
                return msgspec.structs.replace(reply, attempts=attempt)
        problem = (
            f"the embedded server crashed ({server.ending()}); lower models.chat.embedded.context, or set other weights"
        )
        raise self._error("server", problem, self._max_attempts)

    async def close(self) -> None:
        """Stop the server; a later call starts another one."""
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
        server, self._server = self._server, None
        if server is not None:
            await server.stop()

    async def _running(self) -> _Server:
        """Return the server, and start one where there is none or it has crashed."""
        if self._server is not None and self._server.process.returncode is None:
            return self._server
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        # shielded: who gives up waiting takes the server from nobody
        return await asyncio.shield(self._starting)

    async def _start(self) -> _Server:
        try:
            if self._server is not None:
                await self._server.stop()
            self._server = await self._started()
            return self._server
        finally:
            self._starting = None

    async def _started(self) -> _Server:
        settings = self._settings
        if find_spec("xllamacpp") is None:
            raise MissingModelError(
                "models.chat.backend embedded: the Python package xllamacpp is not installed; run `pip install"
                " xllamacpp` (requirements.txt pins its version), or set models.chat.backend to server"
            )
        key = secrets.token_hex(16)
        orders = {
            "weights": locate(settings.weights),
            "context": settings.context,
            "slots": settings.slots,
            "threads": settings.threads,
            "prompt_cache": settings.prompt_cache,
            "key": key,
            "parent": os.getpid(),
        }
        log = tempfile.TemporaryFile()  # noqa: SIM115  the server closes it
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            embedded_process.__file__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
        server = _Server(process, log)
        try:
            process.stdin.write(msgspec.json.encode(orders))
            process.stdin.close()
            async with asyncio.timeout(settings.start_s):
                line = await process.stdout.readline()
                if not line:
                    await process.wait()
                    problem = f"the embedded server ended while it loaded {settings.weights} ({server.ending()})"
                    raise self._error("unreachable", f"{problem}; name other weights in models.chat.embedded")
        except TimeoutError:
            await server.stop()
            problem = (
                f"the embedded server was not up within {settings.start_s:g} s; raise models.chat.embedded.start_s"
            )
            raise self._error("unreachable", problem) from None
        except BaseException:
            await server.stop()
            raise
        up = msgspec.json.decode(line)
        server.tools = up["tools"]
        server.chat = OpenAIChat(
            up["url"] + "/v1",
            self.name,
            self.revision,
            api_key=key,
            concurrency=settings.slots,
            timeout_s=self._timeout_s,
            # next door nothing is busy or lost for a while
            retrying=Retrying(1, 0),
        )
        server.chat.host = self.host
        return server

    def _error(self, fault: str, problem: str, attempts: int = 1) -> ModelCallError:
        return ModelCallError(fault, self.name, self.host, problem, attempts=attempts)


class _Server:
    """A process that serves, its log, and the way to call it; ``tools``: whether its model knows any."""

    def __init__(self, process: asyncio.subprocess.Process, log: IO[bytes]):
        self.process = process
        self.tools = False
        self.chat: OpenAIChat | None = None
        self._log = log
        self._words = ""

    async def is_dead(self) -> bool:
        """Return whether the process has ended, or does so in a moment."""
        try:
            async with asyncio.timeout(_DYING_S):
                await self.process.wait()
        except TimeoutError:
            return False
        return True

    def ending(self) -> str:
        """Return how the process ended, and the last that it said."""
        if not self._log.closed:
            self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LAST_WORDS))
            self._words = " ".join(self._log.read().decode(errors="replace").split())
        return f"code {self.process.returncode}: {self._words or 'it said nothing'}"

    async def stop(self) -> None:
        """Kill the process, which has nothing to save."""
        if self.chat is not None:
            await self.chat.close()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        self.ending()
        self._log.close()
