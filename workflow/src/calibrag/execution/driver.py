"""Drives agents (generators of effects), so that models work on full batches while questions wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")
Handler = Callable[[Sequence[Any]], Sequence[Any]]


class Finished(NamedTuple):
    """What an agent returned, and the seconds spent on its effects, those of a batch shared evenly."""

    value: Any
    seconds: float


class _Agent:
    def __init__(self, steps: Generator[Any, Any, Any]):
        self.steps = steps
        self.seconds = 0.0
        self.effect: Any = None

    def advance(self, reply: Any) -> Finished | None:
        """Send a reply, or throw it where it is an exception; returns what the agent finished with, if it did."""
        try:
            self.effect = self.steps.throw(reply) if isinstance(reply, Exception) else self.steps.send(reply)
        except StopIteration as end:
            return Finished(end.value, self.seconds)
        return None


def drive(
    agents: Iterable[Generator[Any, Any, Value]],
    handlers: Mapping[type, Handler],
    in_flight: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Finished]:
    """Yield what each agent returns, in the order in which they finish.

    Every round performs one kind of effect, the one that most agents wait for, in one batch. A batch that fails
    is performed again one by one, and the fault is thrown into the agent that caused it.

    Parameters
    ----------
    agents
        Generators of effects; they are started as places fall free.
    handlers
        For each type of effect, a function from a batch to its answers, in order.
    in_flight
        Agents that run at the same time, at most.
    """
    waiting = iter(agents)
    running: list[_Agent] = []
    while True:
        for steps in islice(waiting, in_flight - len(running)):
            agent = _Agent(steps)
            if done := agent.advance(None):
                yield done
            else:
                running.append(agent)
        if not running:
            return
        kinds = [type(agent.effect) for agent in running]
        # among equals the order of the handlers decides, so that a rerun forms the same batches
        kind = max(handlers, key=kinds.count)
        batch = [agent for agent in running if type(agent.effect) is kind]
        if not batch:
            raise TypeError(f"no handler for effects of type {kinds[0].__name__}")
        start = clock()
        replies = _perform(handlers[kind], [agent.effect for agent in batch])
        share = (clock() - start) / len(batch)
        for agent, reply in zip(batch, replies, strict=True):
            agent.seconds += share
            if done := agent.advance(reply):
                running.remove(agent)
                yield done


def _perform(handler: Handler, effects: Sequence[Any]) -> Sequence[Any]:
    """Return the answers to a batch; where it fails, each effect's own answer or its exception."""
    try:
        return handler(effects)
    except Exception as fault:  # noqa: BLE001 - it is thrown into the agent, which records it
        if len(effects) == 1:
            return [fault]
        return [reply for effect in effects for reply in _perform(handler, [effect])]
