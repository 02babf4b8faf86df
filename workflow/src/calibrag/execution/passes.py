"""Which questions a pass runs, what it must not see, and running it over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from calibrag.agents.orchestrator import EvidencePass
from calibrag.agents.protocol import Policy
from calibrag.agents.settings import EvidenceAgent
from calibrag.errors import RunError
from calibrag.execution.driver import Handler, drive
from calibrag.records import Question, Record, Trace, Usage


class Passes(Record):
    """How many passes a question gets: always ``minimum``, and up to ``maximum`` where they leave hope."""

    minimum: int
    maximum: int


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


def skipped(question: Question, collection: str, system: str, earlier: Sequence[Trace], rule: str) -> Trace:
    """Return the trace of a pass that was not run."""
    return Trace(
        collection=collection,
        system=system,
        qid=question.qid,
        pass_number=len(earlier) + 1,
        excluded=sorted(recorded_passages(earlier)),
        events=[],
        nuggets=[],
        submissions=[],
        retrieved={},
        answer=None,
        confidence=None,
        confidence_rule=rule,
        stop_reason="skipped",
        status="skipped",
        usage=Usage(),
    )


def run_pass(
    questions: Sequence[Question],
    earlier: Mapping[str, Sequence[Trace]],
    *,
    collection: str,
    system: str,
    policy: Policy,
    settings: EvidenceAgent,
    passes: Passes,
    handlers: Mapping[type, Handler],
    in_flight: int,
    journal: Journal,
    progress: Callable[[Trace], None],
) -> list[Trace]:
    """Return the traces of one pass over all questions, in their order.

    Parameters
    ----------
    earlier
        qid -> traces of the passes before this one, in order; empty for the first pass.
    journal
        Traces that an interrupted job finished already are taken from it, new ones go into it.
    progress
        Called with every new trace as it is finished.
    """
    done = {trace.qid: trace for trace in journal.load()}

    def agents() -> Iterator:
        for question in questions:
            before = earlier.get(question.qid, ())
            if question.qid in done:
                continue
            if not wants_pass(before, passes, settings.gate.confidence_floor):
                done[question.qid] = skipped(question, collection, system, before, settings.confidence.rule)
                continue
            evidence_pass = EvidencePass(question, policy, settings, len(before) + 1, recorded_passages(before), before)
            yield evidence_pass.run(collection, system)

    for trace, seconds in drive(agents(), handlers, in_flight):
        usage = msgspec.structs.replace(trace.usage, seconds=seconds)
        trace = msgspec.structs.replace(trace, usage=usage)
        done[trace.qid] = trace
        if trace.status == "ok":
            journal.add(trace)
        progress(trace)
    return [done[question.qid] for question in questions]


def check_error_rate(traces: Sequence[Trace], max_error_rate: float) -> None:
    """Raise RunError, its message grouping the faults, where too large a share of the questions failed."""
    ran = [trace for trace in traces if trace.status != "skipped"]
    failed = [trace for trace in ran if trace.status == "error"]
    if len(failed) > max_error_rate * len(ran):
        faults = Counter(trace.events[-1].problem for trace in failed)
        listed = "\n".join(f"  {count} x {problem}" for problem, count in faults.most_common(10))
        raise RunError(
            f"{len(failed)} of {len(ran)} questions failed, more than execution.max_error_rate = {max_error_rate} "
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
        """Append a trace; it is on disk when this returns."""
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
