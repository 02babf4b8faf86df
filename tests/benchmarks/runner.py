"""What running questions costs beside the chat model: wall time against the ideal, and processor time a turn.

    python tests/benchmarks/runner.py [--latency 0.5] [--turns 6] [--profile FILE]

A stub server (`stub_server.py`, its own process) answers each call after the latency; retrieval and entailment are
answered at once by fakes of realistic size (passages of 200 words, three of them shown). A question takes a fixed
number of turns, one chat call each. The ideal is ceil(questions / concurrency) x turns x latency; ``ms a turn`` is the
processor time of this process, the client of the server included, by turns. The first questions of a process cost more,
since it imports and warms up: they are told apart.

The alternatives make the same calls with the same growing messages, and nothing else: a plain loop, extrapolated from
two questions, and a pool of as many threads as calls are let in. Both use the synchronous ``openai`` client.
"""

from __future__ import annotations

import argparse
import cProfile
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import openai
import yaml

from calibrag.agents.protocol import Entail, Entailed, Retrieval, Retrieve, Retrieved
from calibrag.agents.tools import turn_schema
from calibrag.execution.opening import open_agent
from calibrag.execution.passes import Journal, Names, run_pass
from calibrag.execution.world import World, conversing
from calibrag.models.chat.opening import decoding_of, open_chat
from calibrag.records import Hit, Passage, Question

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
SYSTEM = CONFIG["systems"]["bitem"] | CONFIG["systems"]["bitem-llm"]
WORDS, PASSAGES, EXTRAPOLATED = 200, 20, 2
CASES = [  # questions, concurrency, style, cache
    (64, 32, "json_schema", "read-write"),
    (64, 32, "json_schema", "off"),
    (64, 32, "tools", "read-write"),
    (256, 128, "json_schema", "read-write"),
]


class Cost(NamedTuple):
    """Wall and processor seconds."""

    wall: float
    processor: float


@contextmanager
def stub(latency: float, turns: int) -> Iterator[str]:
    """Yield the URL of a stub server."""
    command = [sys.executable, Path(__file__).with_name("stub_server.py"), f"--latency={latency}", f"--turns={turns}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def passage(number: int) -> Passage:
    """Return a passage of 200 words."""
    text = f"p{number} " + " ".join(f"word{i}" for i in range(WORDS))
    where = dict(doc_id=f"d{number}", title=f"Title {number}", heading=None, kind="text")
    return Passage(passage_id=f"p{number}", **where, ordinal=0, start=0, end=len(text), text=text)


FOUND = [
    Retrieved(hit=Hit(passage_id=f"p{n}", rank=n + 1, score=1.0 / (n + 1)), passage=passage(n)) for n in range(PASSAGES)
]
SHOWN = "\n\n".join(f"[p{n}] Title {n}\n{passage(n).text}" for n in range(3))


def world(chat_settings: dict) -> World:
    """Return a world whose chat model is the configured one, and whose search and entailment are fakes."""
    chat, spending = open_chat(chat_settings)
    batched = {
        Retrieve: lambda effects: [Retrieval(found=FOUND) for _ in effects],
        Entail: lambda effects: [[Entailed(score=0.98)] * len(effect.pairs) for effect in effects],
    }
    return World(batched, conversing(chat, decoding_of(chat_settings), spending.prices), chat.close, spending)


def run(url: str, folder: Path, questions: int, concurrency: int, style: str, cache: str, turns: int) -> Cost:
    """Run a pass over so many questions."""
    policy = SYSTEM["policy"] | {"style": style, "prompt": str(ROOT / SYSTEM["policy"]["prompt"])}
    policy |= {"types": policy["types"] | {"prompt": None}, "passages_shown": 3}
    gate = SYSTEM["gate"] | {"min_nuggets": 2, "confidence_floor": 0.2}
    limits = SYSTEM["limits"] | {"turns": turns + 9, "transcript": 10**6}
    agent = open_agent(SYSTEM | {"policy": policy, "gate": gate, "limits": limits})
    settings = CONFIG["models"]["chat"] | {"concurrency": concurrency, "cache": cache}
    settings |= {"backend": "server", "server": {"base_url": url, "api_key_env": None}}
    settings["cache_folder"] = str(folder / "cache")
    asked = [Question(qid=f"q{n}", text=f"Who directed film {n}?", answers=["word0"]) for n in range(questions)]
    opened = world(settings)
    wall, processor = time.perf_counter(), time.process_time()
    traces = run_pass(
        asked,
        {},
        agent,
        opened,
        names=Names("films", "bitem-llm"),
        in_flight=concurrency,
        max_error_rate=0.0,
        journal=Journal(folder / "journal", "k"),
        counter=lambda total, detail: lambda trace: None,
    )
    cost = Cost(time.perf_counter() - wall, time.process_time() - processor)
    if {(trace.usage.tool_calls, trace.stop_reason) for trace in traces} != {(turns, "accepted")}:
        raise RuntimeError(f"every question must take {turns} turns (got {traces[0]})")
    return cost


def conversation(client: openai.OpenAI, number: int, turns: int) -> None:
    """Make the calls of one question with the bare client."""
    messages = [{"role": "user", "content": f"Who directed film {number}?"}]
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": turn_schema(None, None), "strict": True},
    }
    for turn in range(turns):
        reply = client.chat.completions.create(model="m", messages=messages, response_format=schema, max_tokens=1024)
        messages.append({"role": "assistant", "content": reply.choices[0].message.content})
        messages.append({"role": "user", "content": SHOWN if turn == 0 else "recorded and verified"})


def loop(url: str, questions: int, turns: int) -> Cost:
    """Run a plain loop over a few questions, and return what all of them would take."""
    with openai.OpenAI(base_url=url, api_key="none") as client:
        return _timed(lambda: [conversation(client, n, turns) for n in range(EXTRAPOLATED)], questions / EXTRAPOLATED)


def threads(url: str, questions: int, concurrency: int, turns: int) -> Cost:
    """Run a pool of threads over all questions."""
    with openai.OpenAI(base_url=url, api_key="none") as client, ThreadPoolExecutor(concurrency) as pool:
        return _timed(lambda: list(pool.map(lambda n: conversation(client, n, turns), range(questions))))


def _timed(work: Callable[[], object], times: float = 1.0) -> Cost:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Cost(times * (time.perf_counter() - wall), times * (time.process_time() - processor))


def _spent(cost: Cost, questions: int, turns: int) -> str:
    return f"{1000 * cost.processor / questions / turns:.2f}"


def main() -> None:
    """Run all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds that the stub takes for a call")
    parser.add_argument("--turns", type=int, default=6, help="chat calls of a question, 5 or more")
    parser.add_argument("--profile", type=Path, help="write a cProfile of the first case here, and run no other")
    asked = parser.parse_args()
    with stub(asked.latency, asked.turns) as url:
        with tempfile.TemporaryDirectory() as folder:
            cold = run(url, Path(folder), 32, 32, "json_schema", "read-write", asked.turns)
        if asked.profile:
            with tempfile.TemporaryDirectory() as folder, cProfile.Profile() as profile:
                run(url, Path(folder), *CASES[0], asked.turns)
            profile.dump_stats(asked.profile)
            return
        print(f"{asked.turns} turns a question, {asked.latency:g} s a call")
        warming = f"{cold.wall:.2f} s, {_spent(cold, 32, asked.turns)} ms a turn"
        print(f"32 questions before all others, to warm up: {warming}\n")
        print(
            "| questions at a time | runner | ideal s | wall s | ideal / wall | ms a turn | times faster than a loop |"
        )
        print("|---|---|---|---|---|---|---|")
        for questions, concurrency in dict.fromkeys(case[:2] for case in CASES):
            plain = loop(url, questions, asked.turns)
            costs = {"plain loop (extrapolated)": plain, "threads": threads(url, questions, concurrency, asked.turns)}
            for case in CASES:
                if case[:2] == (questions, concurrency):
                    with tempfile.TemporaryDirectory() as folder:
                        costs[f"run_pass, {case[2]}, cache {case[3]}"] = run(url, Path(folder), *case, asked.turns)
            ideal = math.ceil(questions / concurrency) * asked.turns * asked.latency
            for name, cost in costs.items():
                figures = (
                    f"{ideal:.1f} | {cost.wall:.2f} | {ideal / cost.wall:.1%} | {_spent(cost, questions, asked.turns)}"
                )
                print(f"| {questions} at {concurrency} | {name} | {figures} | {plain.wall / cost.wall:.1f} |")


if __name__ == "__main__":
    main()
