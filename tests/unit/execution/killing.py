"""A job of two passes that is killed again and again, each time started anew, until it ends.

    PYTHONPATH=workflow/src:tests/unit/models python tests/unit/execution/killing.py --kills 10 --seed 1

prints when it was killed, how many calls were made again, and whether the traces are those of an undisturbed
run.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from chat_runs import (
    FILMS,
    answer,
    asked_title,
    entity_search,
    passed,
    question,
    read,
    record,
    redraw,
    reply,
    scripted,
    search,
)
from chat_server import serving

from calibrag.execution.traces import read_traces, write_traces
from calibrag.trace import without_measurements

IN_FLIGHT = 4
LONGEST_S = 0.06
PASSES = (1, 2)
QUESTIONS = [question(title) for title in FILMS]


def answers(request):
    """Return the server's reply after some tens of milliseconds, the same to the same request."""
    wait = LONGEST_S * random.Random(json.dumps(request)).random()
    title = asked_title(request)
    turns = (
        search(title),
        entity_search(FILMS[title]),
        # half of a reply, and a whole one when it is drawn again
        lambda request: read(f"{title} prize#0") if redraw(request) else reply('{"reasoning": "I'),
        record(f"{title}#0", f"{title} was directed by {FILMS[title]}.", FILMS[title]),
        record(f"{FILMS[title]}#0", f"{FILMS[title]} directed {title}.", FILMS[title]),
        answer(FILMS[title], f"{title}#0"),
        answer(None),
    )
    return scripted(*turns)(request) | {"wait": wait}


def job(url, folder):
    """Make the traces of all passes that are not there yet, as the workflow would."""
    files = [Path(folder) / f"pass-{number}.jsonl" for number in PASSES]
    for number, made in enumerate(files):
        if not made.exists():
            earlier = read_traces(files[:number])
            traces = passed(url, Path(folder), QUESTIONS, earlier, in_flight=IN_FLIGHT, concurrency=IN_FLIGHT)
            write_traces(made, made.with_suffix(".prompts"), traces, [])


def traces_of(folder):
    """Return what the passes have left, without what is measured."""
    made = read_traces(sorted(Path(folder).glob("pass-*.jsonl")))
    return {qid: [without_measurements(trace) for trace in traces] for qid, traces in made.items()}


class Kill(NamedTuple):
    """A kill: so many different requests were answered when it came, so many calls were made again after it.

    A call is a request with all its redraws: they are kept together once one of them is good, and lost together.
    """

    answered: int
    lost: int


class Outcome(NamedTuple):
    """What a run with kills has left, beside an undisturbed one."""

    kills: list[Kill]
    requests: int
    same: bool
    questions: int


def killed_and_undisturbed(folder, kills, seed):
    """Return the `Outcome` of a run with kills at random moments."""
    # the fork server imports once what each life of the job needs
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["killing"])
    draw = random.Random(seed)
    calm, rough = Path(folder) / "calm", Path(folder) / "rough"
    for made in (calm, rough):
        made.mkdir()

    def started(url, made):
        life = context.Process(target=job, args=(url, str(made)))
        life.start()
        return life

    with serving(answers) as server:
        life = started(server.url, calm)
        life.join()
        assert life.exitcode == 0
        total = len(server.requests)

    lives, killed_at = [], []
    with serving(answers) as server:
        for point in sorted(draw.sample(range(1, total - 2 * IN_FLIGHT), kills)):
            before = len(server.requests)
            life = started(server.url, rough)
            while len(_different(server.answered)) < point and life.is_alive():
                time.sleep(0.002)
            time.sleep(draw.random() * LONGEST_S)
            assert life.is_alive(), "it must be killed before it ends"
            life.kill()
            life.join()
            killed_at.append(len(_different(server.answered)))
            lives.append(before)
        before = len(server.requests)
        life = started(server.url, rough)
        life.join()
        assert life.exitcode == 0
        calls = [json.dumps(request | {"seed": request["seed"] % 10_000}) for request in server.requests]

    ends = [*lives[1:], before]
    parts = [calls[start:end] for start, end in zip(lives, ends, strict=True)]
    rests = [calls[end:] for end in ends]
    lost = [len(set(part) & set(rest)) for part, rest in zip(parts, rests, strict=True)]
    left = traces_of(rough)
    return Outcome(list(map(Kill, killed_at, lost)), total, left == traces_of(calm), len(left))


def _different(requests):
    return set(map(json.dumps, list(requests)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = killed_and_undisturbed(folder, asked.kills, asked.seed)
    for number, kill in enumerate(outcome.kills, 1):
        print(f"kill {number}: after {kill.answered} of {outcome.requests} requests, {kill.lost} calls made again")
    again = sum(kill.lost for kill in outcome.kills)
    print(f"{again} calls made again; traces {'the same' if outcome.same else 'DIFFER'}")


if __name__ == "__main__":
    main()
