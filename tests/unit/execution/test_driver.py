"""Driving agents: batches by kind of effect, calls that are awaited, order, faults."""

import asyncio

import pytest

from calibrag.agents.protocol import Performed
from calibrag.errors import BudgetError
from calibrag.execution.driver import drive


class Ask:
    def __init__(self, value):
        self.value = value


class Tell(Ask):
    pass


class Call(Ask):
    pass


def agent(name, effects):
    answers = []
    for effect in effects:
        try:
            answers.append((yield effect).value)
        except ValueError as fault:
            answers.append(str(fault))
    return name, answers


def driven(agents, batched=None, awaited=None, in_flight=8, **more):
    """Return what the agents return, in the order in which they end."""
    finished = []
    asyncio.run(drive(agents, batched or {}, awaited or {}, in_flight, finished.append, **more))
    return finished


def test_waiting_agents_share_one_batch():
    batches = []

    def double(effects):
        batches.append([effect.value for effect in effects])
        return [2 * effect.value for effect in effects]

    agents = [agent(n, [Ask(n), Ask(n + 10)]) for n in range(3)]
    assert driven(agents, {Ask: double}) == [(n, [2 * n, 2 * n + 20]) for n in range(3)]
    assert batches == [[0, 1, 2], [10, 11, 12]]


def test_no_more_agents_run_than_are_let_in():
    most = []

    def answer(effects):
        most.append(len(effects))
        return [None for _ in effects]

    finished = driven((agent(n, [Ask(n)] * 3) for n in range(10)), {Ask: answer}, in_flight=4)
    assert len(finished) == 10 and max(most) == 4


def test_the_kind_that_most_wait_for_is_performed_first():
    order = []

    def handler(kind):
        def perform(effects):
            order.append((kind, len(effects)))
            return [None for _ in effects]

        return perform

    agents = [agent("a", [Ask(1)]), agent("b", [Tell(1)]), agent("c", [Tell(1)])]
    driven(agents, {Ask: handler("ask"), Tell: handler("tell")})
    assert order == [("tell", 2), ("ask", 1)]


def test_calls_are_under_way_together_and_while_a_batch_is_done():
    under_way = []

    async def call(effect):
        under_way.append(effect.value)
        # ends when all four agents have got as far as they can
        while len(under_way) < 4:
            await asyncio.sleep(0.001)
        return Performed(effect.value)

    def batch(effects):
        under_way.append("batch")
        return [None for _ in effects]

    agents = [*(agent(n, [Call(n)]) for n in range(3)), agent("b", [Ask(1)])]
    finished = driven(agents, {Ask: batch}, {Call: call})
    assert {name for name, _ in finished} == {0, 1, 2, "b"}


def test_a_fault_reaches_only_the_agent_that_caused_it():
    def fragile(effects):
        if any(effect.value == 1 for effect in effects):
            raise ValueError("bad input")
        return ["fine" for _ in effects]

    async def call(effect):
        if effect.value == 1:
            raise ValueError("bad call")
        return Performed("fine")

    agents = [agent(n, [Ask(n), Call(n)]) for n in range(3)]
    assert dict(driven(agents, {Ask: fragile}, {Call: call})) == {
        0: ["fine", "fine"],
        1: ["bad input", "bad call"],
        2: ["fine", "fine"],
    }


def test_a_fault_that_an_agent_does_not_handle_stops_the_run():
    def broken(effects):
        raise KeyError("gone")

    with pytest.raises(KeyError):
        driven([agent("a", [Ask(1)])], {Ask: broken}, in_flight=1)


def test_a_spent_budget_stops_all_and_no_agent_sees_it():
    ended = []

    async def call(effect):
        if effect.value == 1:
            raise BudgetError("spent")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(effect.value)

    def careless(effects):
        try:
            yield from effects
        except BudgetError:
            ended.append("the agent saw it")

    with pytest.raises(BudgetError):
        driven([careless([Call(n)]) for n in range(3)], awaited={Call: call})
    assert set(ended) <= {0, 2}


def test_seconds_of_a_batch_are_shared():
    ticks = iter(range(0, 1000, 10))

    def timed(_):
        performed = yield Ask(1)
        return performed.seconds

    finished = driven(
        [timed(n) for n in range(5)], {Ask: lambda effects: [None for _ in effects]}, clock=lambda: float(next(ticks))
    )
    assert finished == [2.0] * 5


def test_agents_without_effects_finish_at_once():
    assert driven([agent("a", [])], in_flight=1) == [("a", [])]


def test_unknown_effects_are_named():
    with pytest.raises(TypeError, match="Ask"):
        driven([agent("a", [Ask(1)])], {Tell: lambda effects: effects}, in_flight=1)
