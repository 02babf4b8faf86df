"""Each layer of the package imports only those above it in the list."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "workflow" / "src" / "calibrag"

# modules of one row may import each other and everything in the rows above
LAYERS = [
    ["errors", "records", "trace", "normalisation", "provenance", "configuration", "job"],
    ["models"],
    ["collections"],
    ["corpus"],
    ["retrieval"],
    ["verification"],
    ["agents"],
    ["execution"],
    ["runs"],
    ["evaluation"],
    ["confidence"],
    ["reporting"],
    ["command", "experiments", "inputs"],
    ["__main__"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = {"torch", "faiss", "spacy", "tantivy", "pyterrier", "matplotlib", "sentence_transformers", "transformers"}

FILES = sorted(SOURCE.rglob("*.py"))


def layer_of(path: Path) -> str | None:
    return (
        path.relative_to(SOURCE).with_suffix("").parts[0] if path.parent != SOURCE or path.stem != "__init__" else None
    )


def imported(path: Path) -> set[str]:
    """Return the layers that a file imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: write imports in full, from calibrag..."
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "calibrag" and len(part) > 1}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_its_own_layer_and_those_above(path):
    layer = layer_of(path)
    if layer is None:
        assert not imported(path)
        return
    assert layer in RANK, f"{layer} is no layer: name it in LAYERS of this test and in the design"
    low = {other for other in imported(path) if RANK[other] > RANK[layer]}
    assert not low, f"{layer} must not import {sorted(low)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_has_a_name_that_says_nothing(path):
    assert not {"utils", "helpers", "misc", "common"} & set(path.relative_to(SOURCE).with_suffix("").parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_short(path):
    assert len(path.read_text().splitlines()) < 400


@pytest.mark.parametrize("package", sorted(p for p in SOURCE.rglob("__init__.py")), ids=lambda p: p.parent.name)
def test_packages_load_nothing_heavy(package):
    """A layer's ``__init__`` is read by whoever wants one of its modules."""
    tree = ast.parse(package.read_text())
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in names} & HEAVY
