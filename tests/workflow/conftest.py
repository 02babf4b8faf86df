"""Running Snakemake as a user does, in a folder of its own, over the toy slices."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests" / "toy" / "config.yaml"


class Workflow:
    """The workflow, run in ``folder``; ``changes`` are laid over the toy configuration."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.changes: dict = {}
        self.root = ROOT

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        changes = self.folder / "changes.yaml"
        changes.write_text(yaml.safe_dump(self.changes))
        command = [sys.executable, "-m", "snakemake", "--snakefile", self.root / "Snakefile"]
        command += ["--workflow-profile", self.root / "workflow" / "profiles" / "default"]
        command += ["--directory", self.folder, "--configfile", TOY, changes, "--nolock"]
        source = str(self.root / "workflow" / "src")
        environment = os.environ | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*map(str, command), *arguments], capture_output=True, text=True, env=environment, cwd=self.folder
        )
        done.output = done.stdout + done.stderr
        return done

    def plan(self, *targets: str, arguments: tuple[str, ...] = ()) -> dict[str, int]:
        """Return rule -> number of jobs that a run would do; {} where there is nothing to be done."""
        done = self.run("--dry-run", *arguments, "--", *targets)
        assert done.returncode == 0, done.output
        if "Nothing to be done" in done.output:
            return {}
        listed = re.search(r"^\d+ jobs?(?:, about [^:]*(?::\d\d)? \w+)?: (.*)$", done.output, re.M)
        assert listed, done.output
        counts = (entry.partition(" x") for entry in listed[1].split(", "))
        return {rule: int(count or 1) for rule, _, count in counts}


@pytest.fixture
def workflow(tmp_path):
    """The workflow in an empty folder."""
    return Workflow(tmp_path)
