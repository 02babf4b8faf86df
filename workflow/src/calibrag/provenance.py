"""Where results come from: fingerprints of the code that a rule reaches, and the versions that a run used.

Snakemake watches a rule's script, not the package behind it. A rule therefore takes the fingerprint of its script as a
parameter: a hash over the syntax trees of the script and of every calibrag module that it imports, however deeply,
without docstrings, comments and layout. An edit of ``calibrag.evaluation`` changes the fingerprints of the rules whose
scripts reach it and of no other; an edit of a comment changes none.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import yaml

PACKAGE = "calibrag"
SOURCE = Path(__file__).resolve().parent.parent
"""The folder that holds the package."""

_LENGTH = 16


def fingerprint(script: str | Path, source: str | Path = SOURCE) -> str:
    """Return 16 hex digits over the code that a script reaches.

    Parameters
    ----------
    script
        A Python file; imports inside functions count as well.
    source
        The folder that holds the package; only its modules are followed, other packages are pinned by the lock file.
    """
    digest = hashlib.sha256(_normalised(Path(script)).encode())
    for module in sorted(reached(script, source)):
        digest.update(f"\n{module}\n".encode())
        digest.update(_normalised(_file_of(module, Path(source))).encode())
    return digest.hexdigest()[:_LENGTH]


def fingerprint_of_job(inputs: Iterable[str | Path], parameters: Iterable) -> str:
    """Return 16 hex digits that change with a job's parameters and with the size or time of an input.

    An interrupted job takes its finished part up again only under the same digits.
    """
    digest = hashlib.sha256()
    for parameter in parameters:
        digest.update(f"{parameter!r}\n".encode())
    for path in sorted(map(Path, inputs)):
        state = path.stat()
        digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:_LENGTH]


class Fingerprints:
    """Fingerprints of the scripts of one folder, by name; ``Fingerprints(folder)("chunk_documents")``."""

    def __init__(self, scripts: str | Path):
        self.scripts = Path(scripts)

    def __call__(self, name: str) -> str:
        """Return the fingerprint of a script, see ``fingerprint``."""
        return fingerprint(self.scripts / f"{name}.py")


def reached(script: str | Path, source: str | Path = SOURCE) -> set[str]:
    """Return the dotted names of the package's modules that a script imports, directly or through others."""
    source = Path(source)
    found: set[str] = set()
    waiting = set(_imports(Path(script), source))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting |= _imports(_file_of(module, source), source) - found
    return found


# the time of change is part of each cache's key, so that a long-lived process notices an edit


def _normalised(path: Path) -> str:
    """Return the syntax tree as text; positions, comments, layout and docstrings are not in it."""
    return _normal(path, path.stat().st_mtime_ns)


@cache
def _normal(path: Path, changed_ns: int) -> str:
    tree = _parse(path)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            # a string that stands alone is a docstring, of a function or of an attribute: it does nothing
            node.body = [item for item in body if not _is_bare_string(item)] or [ast.Pass()]
    return ast.dump(tree)


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _is_bare_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(path: Path, source: Path) -> frozenset[str]:
    return _imported(path, path.stat().st_mtime_ns, source)


@cache
def _imported(path: Path, changed_ns: int, source: Path) -> frozenset[str]:
    """Return the package's modules that one file imports, with the packages around them, whose ``__init__`` runs."""
    names: set[str] = set()
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, path, source)
            names.add(base)
            # `from calibrag.corpus import chunking` imports a module, `from calibrag.errors import InputError` a name
            names.update(f"{base}.{alias.name}" for alias in node.names)
    modules = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == PACKAGE:
            modules.update(".".join(parts[: n + 1]) for n in range(len(parts)))
    return frozenset(module for module in modules if _exists(module, source))


def _absolute(node: ast.ImportFrom, path: Path, source: Path) -> str:
    if not node.level:
        return node.module or ""
    # one dot means the package that holds the file, which is its folder for a module and for an __init__ alike
    folder = path.parents[node.level - 1].relative_to(source)
    return ".".join((*folder.parts, *([node.module] if node.module else [])))


def _exists(module: str, source: Path) -> bool:
    return _file_of(module, source).is_file()


def _file_of(module: str, source: Path) -> Path:
    path = source.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def digest_of(*settings) -> str:
    """Return 16 hex digits over settings, as their ``repr`` says them."""
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:_LENGTH]


def release() -> str:
    """Return the installed version of this package; ``not installed`` where it is run from its folder."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return "not installed"


# --- versions ------------------------------------------------------------------------------------


def versions(packages: list[str]) -> dict[str, str]:
    """Return the installed version of each distribution, beside Python's and the platform's."""
    found = {name: metadata.version(name) for name in sorted(packages)}
    return {"python": platform.python_version(), "platform": platform.platform(), **found}


def requirements(file: str | Path) -> list[str]:
    """Return the names of the distributions that a requirements file states directly."""
    lines = (line.split("#")[0].strip() for line in Path(file).read_text(encoding="utf-8").splitlines())
    return [line.split("==")[0].strip() for line in lines if line and not line.startswith("-")]


def revision(folder: str | Path) -> str | None:
    """Return the git revision of a folder, with ``+changes`` where tracked files differ; None outside git."""
    try:
        head = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+changes" if changed else "")


def _git(folder: str | Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout.strip()


def write_run_config(path: str | Path, config: Mapping, header: Mapping) -> None:
    """Write what ran (``header``) and the resolved configuration as YAML."""
    text = yaml.safe_dump({"provenance": dict(header)}, sort_keys=False, allow_unicode=True)
    text += yaml.safe_dump({"config": dict(config)}, sort_keys=False, allow_unicode=True, width=120)
    Path(path).write_text(
        "# Written by the workflow: the settings of these results, unfolded.\n" + text, encoding="utf-8"
    )
