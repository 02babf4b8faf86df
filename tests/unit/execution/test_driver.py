"""Driving agents: batches by kind of effect, order, faults."""

import pytest

from calibrag.execution.driver import drive


class Ask:
    def __init__(self, value):
        self.value = value


class Tell(Ask):
    pass


def agent(name, effects):
    answers = []
    for effect in effects:
        try:
            answers.append((yield effect))
        except ValueError as fault:
            answers.append(str(fault))
    return name, answers


def test_waiting_agents_share_one_batch():
    batches = []

    def double(effects):
        batches.append([effect.value for effect in effects])
        return [2 * effect.value for effect in effects]

    agents = [agent(n, [Ask(n), Ask(n + 10)]) for n in range(3)]
    finished = list(drive(agents, {Ask: double}, in_flight=8))
    assert batches == [[0, 1, 2], [10, 11, 12]]
    assert [f.value for f in finished] == [(n, [2 * n, 2 * n + 20]) for n in range(3)]


def test_no_more_agents_run_than_are_let_in():
    most = []

    def answer(effects):
        most.append(len(effects))
        return [None for _ in effects]

    finished = list(drive((agent(n, [Ask(n)] * 3) for n in range(10)), {Ask: answer}, in_flight=4))
    assert len(finished) == 10 and max(most) == 4


def test_the_kind_that_most_wait_for_is_performed_first():
    order = []

    def handler(kind):
        def perform(effects):
            order.append((kind, len(effects)))
            return [None for _ in effects]

        return perform

    agents = [agent("a", [Ask(1)]), agent("b", [Tell(1)]), agent("c", [Tell(1)])]
    list(drive(agents, {Ask: handler("ask"), Tell: handler("tell")}, in_flight=8))
    assert order == [("tell", 2), ("ask", 1)]


def test_a_fault_reaches_only_the_agent_that_caused_it():
    def fragile(effects):
        if any(effect.value == 1 for effect in effects):
            raise ValueError("bad input")
        return ["fine" for _ in effects]

    finished = dict(f.value for f in drive([agent(n, [Ask(n)]) for n in range(3)], {Ask: fragile}, in_flight=8))
    assert finished == {0: ["fine"], 1: ["bad input"], 2: ["fine"]}


def test_a_fault_that_an_agent_does_not_handle_stops_the_run():
    def broken(effects):
        raise KeyError("gone")

    with pytest.raises(KeyError):
        list(drive([agent("a", [Ask(1)])], {Ask: broken}, in_flight=1))


def test_seconds_of_a_batch_are_shared():
    ticks = iter(range(0, 1000, 10))
    finished = list(
        drive(
            [agent(n, [Ask(n)]) for n in range(5)],
            {Ask: lambda effects: [None for _ in effects]},
            in_flight=5,
            clock=lambda: float(next(ticks)),
        )
    )
    assert [f.seconds for f in finished] == [2.0] * 5


def test_agents_without_effects_finish_at_once():
    assert [f.value for f in drive([agent("a", [])], {}, in_flight=1)] == [("a", [])]


def test_unknown_effects_are_named():
    with pytest.raises(TypeError, match="Ask"):
        list(drive([agent("a", [Ask(1)])], {Tell: lambda effects: effects}, in_flight=1))
