"""Drives agents (generators of effects): local models get full batches, and servers many calls at a time.

Every agent is a task of one event loop. What a local model or an index answers is done in one worker thread, batch by
batch, while calls of servers are on their way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from calibrag.agents.protocol import Performed
from calibrag.errors import BudgetError

Value = TypeVar("Value")
Handler = Callable[[Sequence[Any]], Sequence[Any]]
Caller = Callable[[Any], Awaitable[Performed]]


async def drive(
    agents: Iterable[Generator[Any, Performed, Value]],
    batched: Mapping[type, Handler],
    awaited: Mapping[type, Caller],
    in_flight: int,
    finished: Callable[[Value], None],
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Run all agents, and hand what each returns to ``finished``, in the order in which they end.

    A fault is thrown into the agent whose effect caused it. A spent budget, and whatever an agent or ``finished``
    raises, stops all.

    Parameters
    ----------
    agents
        Generators of effects; they are started as places fall free.
    batched
        For each type of effect, a function from a batch to its answers, in order. Whenever the worker is free it takes
        all effects of one kind, the one that most agents wait for. A batch that fails is done again one by one.
    awaited
        For each type of effect, a coroutine function from one effect to its answer.
    in_flight
        Agents that run at the same time, at most.
    """
    waiting = iter(agents)
    batches = _Batches(batched, clock)

    async def work() -> None:
        for steps in waiting:
            finished(await _run(steps, batches, awaited))

    async def work_off() -> None:
        await _all([work() for _ in range(in_flight)])
        batches.end()

    await _all([work_off(), batches.serve()])


async def _all(coroutines: Iterable[Coroutine]) -> None:
    """Wait for all; the first that fails cancels the others and is raised by itself, which a TaskGroup does not do."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(steps: Generator[Any, Performed, Value], batches: _Batches, awaited: Mapping[type, Caller]) -> Value:
    """Return what one agent returns."""
    reply: Performed | None = None
    fault: Exception | None = None
    while True:
        try:
            effect = steps.send(reply) if fault is None else steps.throw(fault)
        except StopIteration as end:
            return end.value
        reply, fault = None, None
        try:
            call = awaited.get(type(effect))
            reply = await (call(effect) if call else batches.ask(effect))
        except BudgetError:
            raise
        except Exception as error:  # noqa: BLE001 - it is thrown into the agent, which records it
            fault = error


class _Batches:
    """Effects that wait for the worker, by kind."""

    def __init__(self, handlers: Mapping[type, Handler], clock: Callable[[], float]):
        self._handlers = handlers
        self._clock = clock
        self._waiting: dict[type, list[tuple[Any, asyncio.Future]]] = {kind: [] for kind in handlers}
        self._asked = asyncio.Event()
        self._ended = False

    def end(self) -> None:
        """Let ``serve`` return: nobody asks any more."""
        self._ended = True
        self._asked.set()

    async def ask(self, effect: Any) -> Performed:
        """Return the answer to an effect, once its batch is done."""
        if type(effect) not in self._handlers:
            raise TypeError(f"no handler for effects of type {type(effect).__name__}")
        future = asyncio.get_running_loop().create_future()
        self._waiting[type(effect)].append((effect, future))
        self._asked.set()
        return await future

    async def serve(self) -> None:
        """Perform batches until the end."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(max_workers=1) as worker:
            while not self._ended:
                await self._asked.wait()
                # the agents that the last batch answered come first: they may add to the next
                await asyncio.sleep(0)
                # among equals the order of the handlers decides
                kind = max(self._waiting, key=lambda kind: len(self._waiting[kind]), default=None)
                batch = self._waiting.get(kind, [])
                if not batch:
                    self._asked.clear()
                    continue
                self._waiting[kind] = []
                start = self._clock()
                replies = await loop.run_in_executor(
                    worker, _perform, self._handlers[kind], [effect for effect, _ in batch]
                )
                seconds = (self._clock() - start) / len(batch)
                for (_, future), reply in zip(batch, replies, strict=True):
                    if future.done():
                        continue  # its agent was cancelled
                    if isinstance(reply, Exception):
                        future.set_exception(reply)
                    else:
                        future.set_result(Performed(reply, seconds))


def _perform(handler: Handler, effects: Sequence[Any]) -> Sequence[Any]:
    """Return the answers to a batch; where it fails, each effect's own answer or its exception."""
    try:
        return handler(effects)
    except Exception as fault:  # noqa: BLE001 - it is thrown into the agent, which records it
        if len(effects) == 1:
            return [fault]
        return [reply for effect in effects for reply in _perform(handler, [effect])]
