"""Which questions a pass runs, what it must not see, and running it over all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from calibrag.agents.orchestrator import EvidencePass
from calibrag.agents.protocol import Policy
from calibrag.agents.settings import EvidenceAgent
from calibrag.errors import RunError
from calibrag.execution.driver import drive
from calibrag.execution.progress import Tally
from calibrag.execution.world import World
from calibrag.records import Question, Record
from calibrag.trace import Provenance, Trace, Usage


class Passes(Record):
    """How many passes a question gets: always ``minimum``, and up to ``maximum`` where they leave hope.

    ``exclude``: a later pass searches without the passages that earlier ones recorded.
    """

    minimum: int
    maximum: int
    exclude: bool


def of_shard(questions: Sequence[Question], at_most: int | None, shard: str) -> list[Question]:
    """Return the questions of a shard, such as ``2-of-3``, out of the first ``at_most`` (None: of all)."""
    number, count = map(int, shard.split("-of-"))
    return list(questions[:at_most][number - 1 :: count])


def recorded_passages(earlier: Sequence[Trace]) -> frozenset[str]:
    """Return the passages that earlier passes recorded: a later pass searches the corpus without them."""
    return frozenset(nugget.passage_id for trace in earlier for nugget in trace.nuggets)


def is_unsure(trace: Trace, confidence_floor: float) -> bool:
    """Return whether a pass ended in a refusal, a fallback, nothing accepted, or below the floor."""
    return (
        trace.answer is None
        or trace.submissions[-1].origin == "fallback"
        or trace.confidence is None
        or trace.confidence < confidence_floor
    )


def wants_pass(earlier: Sequence[Trace], passes: Passes, confidence_floor: float) -> bool:
    """Return whether another pass is run after ``earlier``: not where the last two were both unsure.

    The gate applies to passes past ``passes.minimum`` only (spec/bitem section 4: a fourth unless the last two
    are both unsure).
    """
    if len(earlier) < passes.minimum:
        return True
    return not all(is_unsure(trace, confidence_floor) for trace in earlier[-2:])


def skipped(question: Question, names: Names, earlier: Sequence[Trace], agent: Agent) -> Trace:
    """Return the trace of a pass that was not run."""
    return Trace(
        **names._asdict(),
        qid=question.qid,
        pass_number=len(earlier) + 1,
        excluded=sorted(_excluded(earlier, agent.passes)),
        events=[],
        nuggets=[],
        submissions=[],
        retrieved={},
        answer=None,
        confidence=None,
        confidence_rule=agent.settings.confidence.rule,
        stop_reason="skipped",
        status="skipped",
        usage=Usage(),
    )


def _excluded(earlier: Sequence[Trace], passes: Passes) -> frozenset[str]:
    return recorded_passages(earlier) if passes.exclude else frozenset()


class Agent(NamedTuple):
    """An agent as a system's block describes it."""

    policy: Policy
    settings: EvidenceAgent
    passes: Passes


class Names(NamedTuple):
    """What a trace says about where it belongs and comes from."""

    collection: str
    system: str
    provenance: Provenance | None = None


def run_pass(
    questions: Sequence[Question],
    earlier: Mapping[str, Sequence[Trace]],
    agent: Agent,
    world: World,
    *,
    names: Names,
    in_flight: int,
    max_error_rate: float,
    journal: Journal,
    counter: Callable[[int, object], Callable[[object], None]],
) -> list[Trace]:
    """Return the traces of one pass over all questions, in their order.

    Parameters
    ----------
    earlier
        qid -> traces of the passes before this one, in order; empty for the first pass.
    in_flight
        Questions worked on together, at most.
    max_error_rate
        Share of the questions that may fail, 0 to 1.
    journal
        Traces that an interrupted job finished already are taken from it, new ones go into it.
    counter
        Is called with the number of questions to run and what is to be said about them (by ``str``); what it returns
        is called with every new trace as it is finished.

    Raises
    ------
    RunError
        More questions failed than may, which stops the others; its message groups the faults.
    BudgetError
        The chat model's budget is spent.
    """
    done = {trace.qid: trace for trace in journal.load()}
    floor = agent.settings.gate.confidence_floor
    waiting: list[EvidencePass] = []
    for question in questions:
        before = earlier.get(question.qid, ())
        if question.qid in done:
            continue
        if wants_pass(before, agent.passes, floor):
            excluded = _excluded(before, agent.passes)
            waiting.append(EvidencePass(question, agent.policy, agent.settings, len(before) + 1, excluded, before))
        else:
            done[question.qid] = skipped(question, names, before, agent)
    asked = len(waiting) + sum(trace.status != "skipped" for trace in done.values())
    failed: list[Trace] = []
    tally = Tally()
    count = counter(len(waiting), tally)

    def finished(trace: Trace) -> None:
        done[trace.qid] = trace
        tally.add(trace)
        if trace.status == "error":
            failed.append(trace)
            if len(failed) > max_error_rate * asked:
                raise _too_many(failed, asked, max_error_rate)
        else:
            journal.add(trace)
        count(trace)

    agents = (each.run(*names) for each in waiting)
    asyncio.run(_drive_and_close(agents, world, in_flight, finished))
    return [done[question.qid] for question in questions]


async def _drive_and_close(
    agents: Iterator[Generator], world: World, in_flight: int, finished: Callable[[Trace], None]
) -> None:
    try:
        await drive(agents, world.batched, world.awaited, in_flight, finished)
    finally:
        await world.close()


def _too_many(failed: Sequence[Trace], of: int, max_error_rate: float) -> RunError:
    """Return the error of a job that stops; its message groups the faults."""
    faults = Counter(trace.events[-1].problem for trace in failed)
    listed = "\n".join(f"  {count} x {problem}" for problem, count in faults.most_common(10))
    return RunError(
        f"{len(failed)} of {of} questions failed, more than execution.max_error_rate = {max_error_rate} "
        f"allows:\n{listed}\nremove the cause and run the same command again: finished questions are kept"
    )


class Journal:
    """Finished traces of a job, so that a killed job goes on where it stopped.

    A journal belongs to one state of code, settings and inputs: another ``key`` starts it anew. A last line that
    was cut off is dropped.
    """

    def __init__(self, path: str | Path, key: str):
        self.path = Path(path)
        self.key = key

    def load(self) -> list[Trace]:
        """Return the traces kept under this key."""
        if not self.path.exists():
            return self._start([])
        lines = self.path.read_bytes().split(b"\n")
        if lines[0].decode(errors="replace") != self.key:
            return self._start([])
        # what follows the last newline is a line that was being written
        return self._start([msgspec.json.decode(line, type=Trace) for line in lines[1:-1]])

    def add(self, trace: Trace) -> None:
        """Append a trace; once this returns, killing the job does not lose it."""
        with self.path.open("ab") as out:
            out.write(msgspec.json.encode(trace) + b"\n")

    def close(self) -> None:
        """Remove the journal: the job's declared output holds everything now."""
        self.path.unlink(missing_ok=True)

    def _start(self, traces: list[Trace]) -> list[Trace]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = [self.key.encode(), *map(msgspec.json.encode, traces)]
        self.path.write_bytes(b"".join(line + b"\n" for line in lines))
        return traces
