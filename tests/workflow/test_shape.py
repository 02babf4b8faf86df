"""The workflow's files keep their shape, and the documents name everything that there is."""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULE_FILES = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))
ORDER = ["input", "output", "log", "benchmark", "params", "threads", "resources", "conda", "script"]
ON_DEMAND = {"train_adapter", "train_reader", "build_terrier_index", "measure_recall"}  # not part of `all`
WITHOUT_JOB = {"tables"}  # collects files, does nothing


def rules() -> dict[str, tuple[Path, str]]:
    """Return rule -> its file and its text."""
    found = {}
    for path in RULE_FILES:
        for name, body in re.findall(r"^rule (\w+):\n((?:[ \t].*\n|\n)*)", path.read_text(), re.M):
            found[name] = (path, body)
    return found


RULES = rules()
WORKING = sorted(set(RULES) - WITHOUT_JOB)


def test_the_snakefile_is_a_table_of_contents():
    text = (ROOT / "Snakefile").read_text()
    assert len(text.splitlines()) <= 80
    assert re.findall(r'^include: "workflow/rules/(\w+)\.smk"', text, re.M) == [
        "models", "collections", "corpus", "retrieval", "execution", "runs", "evaluation", "confidence",
        "tables", "figures", "reporting",
    ]  # fmt: skip


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_a_rule_file_opens_with_its_question_needs_products_and_steps(path):
    docstring = ast.get_docstring(ast.parse(path.read_text().split("\n\n\n")[0])) or ""
    first, *_ = docstring.splitlines()
    assert first.endswith("?")
    for heading in ("Needs ", "Makes ", "Steps "):
        assert re.search(rf"^{heading}", docstring, re.M), heading


@pytest.mark.parametrize("name", WORKING)
def test_a_rule_states_its_keys_in_the_fixed_order(name):
    _, body = RULES[name]
    assert re.match(r'    """.+', body), "a rule opens with a docstring"
    # a wildcard that another rule takes as well is held to its own names
    keys = [key for key in re.findall(r"^    (\w+):", body, re.M) if key != "wildcard_constraints"]
    assert keys == ORDER


@pytest.mark.parametrize("name", WORKING)
def test_a_rule_has_a_script_of_its_name_and_its_stage_in_log_and_benchmark(name):
    path, body = RULES[name]
    assert f'"../scripts/{name}.py"' in body
    assert (ROOT / "workflow" / "scripts" / f"{name}.py").is_file()
    assert f'"results/logs/{path.stem}/{name}' in body
    assert f'"results/benchmarks/{path.stem}/{name}' in body
    assert f'code=fingerprint("{name}")' in body


def test_every_script_belongs_to_a_rule():
    assert [path.stem for path in SCRIPTS] == WORKING


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short_decides_nothing_and_keeps_a_log(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 25
    assert not [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.If | ast.Try | ast.FunctionDef)]
    assert "with logged(snakemake.log[0]) as job:" in text


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_rules_hold_no_lambda_and_no_run_block(path):
    text = path.read_text()
    assert "lambda" not in text
    assert not re.search(r"^    (run|shell):", text, re.M)


def test_the_stage_table_names_every_stage_rule_and_caption():
    text = (ROOT / "workflow" / "README.md").read_text()
    missing = [f"`{name}`" for name in [*RULES, *(path.stem for path in RULE_FILES)] if f"`{name}`" not in text]
    assert missing == []
    captions = {path.name for path in (ROOT / "workflow" / "report").glob("*.rst")} - {"workflow.rst"}
    assert [name for name in sorted(captions) if f"`{name}`" not in text] == []


def test_the_make_targets_of_the_readme_exist_and_every_target_is_named():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):.*##", makefile, re.M))
    readme = (ROOT / "README.md").read_text()
    assert set(re.findall(r"\bmake ([a-z][a-z-]*)", readme)) == targets


def test_files_and_targets_that_the_readme_names_exist():
    readme = (ROOT / "README.md").read_text() + (ROOT / "workflow" / "README.md").read_text()
    paths = set(re.findall(r"`((?:workflow|tests|envs)/[\w./-]+)`", readme))
    examples = {"workflow/scripts/x.py"}
    assert [path for path in sorted(paths - examples) if not (ROOT / path).exists()] == []


def test_every_caption_is_used_and_every_one_used_exists():
    used = {name for _, body in RULES.values() for name in re.findall(r'"\.\./report/([\w]+\.rst)"', body)}
    snakefile = (ROOT / "Snakefile").read_text()
    used |= set(re.findall(r"workflow/report/(\w+\.rst)", snakefile))
    assert used == {path.name for path in (ROOT / "workflow" / "report").glob("*.rst")}


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["snakefmt", "--check", "Snakefile", "workflow/rules"],
        ["snakemake", "--lint", "--nolock"],
    ],
    ids=lambda command: command[0],
)
def test_linters_find_nothing(command):
    done = subprocess.run(
        [str(Path(sys.executable).with_name(command[0])), *command[1:]], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_time_left_is_known_on_a_first_run():
    """The shipped seconds name every rule that the default target runs."""
    from snakemake_logger_plugin_calibrag.timing import TARGETS, typical_seconds

    rules = {name for file in RULE_FILES for name in re.findall(r"^rule (\w+):", file.read_text(), re.M)}
    assert rules - set(TARGETS) - ON_DEMAND == set(typical_seconds())


BENCHMARKS = sorted(set((ROOT / "tests" / "benchmarks").glob("*.py")) - {ROOT / "tests/benchmarks/stub_server.py"})


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_the_package_is_there(path):
    """Benchmarks are not run by tests, but a name that moved must not wait for the next of their runs."""
    imported = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("calibrag")
        for alias in node.names
    ]
    assert imported
    for module, name in imported:
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}"), f"{module} has no {name}"
