"""The optional engine without Java's bridge or Terrier's jars: what the message says. The engine itself was not run."""

from __future__ import annotations

import pyterrier as pt
import pytest
from small_corpora import named

from calibrag.errors import InputError, MissingModelError
from calibrag.retrieval import terrier

BOOSTS = dict.fromkeys(terrier.FIELDS, 1.0)


@pytest.fixture
def no_java(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("jar not found\nin a long trace of Java")

    monkeypatch.setattr(pt.java, "init", refuse)


def test_without_java_or_jars_one_line_says_what_to_install(tmp_path, films, no_java):
    with pytest.raises(MissingModelError) as error:
        terrier.build(named(films), tmp_path / "i")
    assert "jar not found" in str(error.value) and 'pip install "pyterrier[java]"' in str(error.value)
    assert "\n" not in str(error.value) and not (tmp_path / "i").exists()


def test_absent_index_says_which_rule_builds_it(tmp_path, no_java):
    with pytest.raises(InputError, match="no whole Terrier index.*run the workflow again"):
        terrier.TerrierRetriever(tmp_path, BOOSTS, 5)
