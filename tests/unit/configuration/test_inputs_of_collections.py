"""What the rules of collections and imports take from the configuration."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from calibrag.configuration import load_yaml, resolve
from calibrag.inputs import Inputs

ROOT = Path(__file__).parents[3]
FILES = [ROOT / "config.yaml"]


@pytest.fixture(scope="module")
def take():
    schema = load_yaml(ROOT / "workflow" / "schemas" / "config.schema.yaml")
    return Inputs(resolve(load_yaml(FILES[0]), schema, ROOT, FILES))


def of(collection, **more):
    return SimpleNamespace(collection=collection, **more)


def test_documents_depend_on_questions_only_where_some_lose_their_support(take):
    for name in ("film", "hotpotqa-open", "hotpotqa-pooled"):
        assert take.unsupported(of(name)) is None
        assert take.questions_unsupported(of(name)) == []
    assert take.questions_unsupported(of("film-unsupported")).endswith("film/questions.jsonl.xz")
    assert take.unsupported(of("film-unsupported")) == {
        "share": 0.25,
        "seed": 5,
        "format": "jsonl",
        "answered": True,
        "split": "test",
        "sample": {"size": 60, "seed": 42},
    }


def test_an_import_has_the_passes_that_are_taken_of_its_log(take):
    wildcards = of("adarague-triviaqa", system="imported")
    assert take.source(wildcards) == {"format": "adarague", "passes": 3}
    assert take.all_passes(wildcards) == [
        f"results/adarague-triviaqa/imported/pass-{n}/1-of-1/traces.jsonl" for n in (1, 2, 3)
    ]
    assert take.all_passes(of("react-hotpotqa", system="imported")) == [
        "results/react-hotpotqa/imported/pass-1/1-of-1/traces.jsonl"
    ]
