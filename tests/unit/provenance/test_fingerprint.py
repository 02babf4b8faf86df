"""A fingerprint changes with the code that a script reaches, and with nothing else."""

import textwrap

import pytest

from calibrag import provenance
from calibrag.provenance import fingerprint, fingerprint_of_job, reached


@pytest.fixture
def source(tmp_path):
    """A package of four modules: a script reaches three of them, one only inside a function."""
    package = tmp_path / "src" / "calibrag"
    files = {
        "__init__.py": "",
        "errors.py": "class E(Exception): ...",
        "evaluation/__init__.py": "",
        "evaluation/answers.py": '"""Answers."""\nfrom calibrag.errors import E\n\ndef f(x):\n    return x + 1\n',
        "evaluation/unused.py": "y = 1",
        "lazy.py": "z = 1",
    }
    for name, text in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    (tmp_path / "script.py").write_text(
        textwrap.dedent(
            '''
            """A script."""
            import json
            from calibrag.evaluation import answers

            def g():
                from calibrag.lazy import z
                return z
            '''
        )
    )
    return tmp_path


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def both(source):
    return fingerprint(source / "script.py", source / "src")


def test_reached_modules_are_those_imported_directly_through_others_and_inside_functions(source):
    assert reached(source / "script.py", source / "src") == {
        "calibrag",
        "calibrag.errors",
        "calibrag.evaluation",
        "calibrag.evaluation.answers",
        "calibrag.lazy",
    }


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("evaluation/answers.py", "x + 1", "x + 2"),
        ("errors.py", "class E", "class F"),
        ("lazy.py", "z = 1", "z = 2"),
        ("evaluation/__init__.py", "", "import os"),
    ],
)
def test_an_edit_of_a_reached_module_changes_it(source, file, old, new):
    before = both(source)
    edit(source / "src" / "calibrag" / file, old, new)
    assert both(source) != before


def test_an_edit_of_the_script_changes_it(source):
    before = both(source)
    edit(source / "script.py", "return z", "return z + 1")
    assert both(source) != before


def test_an_edit_of_a_module_that_is_not_reached_changes_nothing(source):
    before = both(source)
    edit(source / "src" / "calibrag" / "evaluation" / "unused.py", "1", "2")
    assert both(source) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Answers."""', '"""Answers, described at length."""'),
        ("def f(x):", "def f(x):  # a comment"),
        ("def f(x):\n    return x + 1", 'def f(x):\n    """Add."""\n\n    return (\n        x + 1\n    )'),
    ],
)
def test_comments_docstrings_and_layout_change_nothing(source, old, new):
    before = both(source)
    edit(source / "src" / "calibrag" / "evaluation" / "answers.py", old, new)
    assert both(source) == before


def test_relative_imports_are_followed(source):
    edit(source / "src" / "calibrag" / "evaluation" / "answers.py", "from calibrag.errors", "from ..errors")
    edit(source / "src" / "calibrag" / "evaluation" / "__init__.py", "", "from . import unused")
    assert {"calibrag.errors", "calibrag.evaluation.unused"} <= reached(source / "script.py", source / "src")


def test_a_circle_of_imports_ends(source):
    edit(source / "src" / "calibrag" / "errors.py", "class E", "from calibrag.evaluation import answers\nclass E")
    assert both(source)


def test_a_job_s_fingerprint_follows_parameters_and_inputs(tmp_path):
    file = tmp_path / "input"
    file.write_text("a")
    before = fingerprint_of_job([file], ["p", 1])
    assert fingerprint_of_job([file], ["p", 1]) == before
    assert fingerprint_of_job([file], ["p", 2]) != before
    file.write_text("ab")
    assert fingerprint_of_job([file], ["p", 1]) != before


def test_requirements_are_read_without_comments_and_options(tmp_path):
    file = tmp_path / "requirements.in"
    file.write_text("# a\n-c other.txt\n\nsnakemake==9.27.1\nnumpy==2.4.6  # arrays\nsympy\n")
    assert provenance.requirements(file) == ["snakemake", "numpy", "sympy"]


def test_outside_git_there_is_no_revision(tmp_path):
    assert provenance.revision(tmp_path) is None
