"""The configuration as a user meets it: what is refused and what the message says, and how systems unfold."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from calibrag.configuration import load_yaml, nearest, resolve
from calibrag.errors import ConfigError

ROOT = Path(__file__).parents[3]
SCHEMA = load_yaml(ROOT / "workflow" / "schemas" / "config.schema.yaml")
SHIPPED = load_yaml(ROOT / "config.yaml")


@pytest.fixture
def config():
    return copy.deepcopy(SHIPPED)


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Resolve a configuration as if it stood in config.yaml of the working directory."""
    monkeypatch.chdir(tmp_path)

    def run(config):
        Path("config.yaml").write_text(yaml.safe_dump(config))
        return resolve(config, SCHEMA, root=tmp_path, files=["config.yaml"])

    return run


def put(config, dotted, value):
    *parents, last = dotted.split(".")
    for key in parents:
        config = config[key]
    config[last] = value


def drop(config, dotted):
    *parents, last = dotted.split(".")
    for key in parents:
        config = config[key]
    del config[last]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("evalution", {}, "config.yaml: evalution: unknown key; did you mean 'evaluation'?"),
        ("systems.bitem.gate.min_nugets", 3, "systems.bitem.gate.min_nugets: unknown key; did you mean 'min_nuggets'?"),
        ("systems.bitem.passes.minimum", "3", "systems.bitem.passes.minimum: must be a whole number (got '3')"),
        ("systems.bitem.passes.minimum", True, "systems.bitem.passes.minimum: must be a whole number (got True)"),
        ("systems.bitem.passes.maximum", 0, "systems.bitem.passes.maximum: must be at least 1 (got 0)"),
        ("systems.bitem.policy.name", "lm", "systems.bitem.policy.name: must be one of reader, llm (got 'lm')"),
        ("evaluation.missing", "wring", "evaluation.missing: must be one of present, wrong (got 'wring')"),
        ("evaluation.bootstrap.level", 1, "evaluation.bootstrap.level: must be below 1 (got 1)"),
        ("evaluation.measures", [], "evaluation.measures: must hold at least 1 (got 0)"),
        ("experiments.main.systems", ["bitem", "bitem"], "experiments.main.systems: must not repeat an item"),
        ("models.embedder.sha256", "53aa", "models.embedder.sha256: must match ^[0-9a-f]{64}$ (got '53aa')"),
        (
            "collections.film.documents.format",
            "html5",
            "collections.film.documents.format: must be one of jsonl, mediawiki, html, markdown, text, ottqa, hotpotqa,"
            " 2wikimultihopqa, musique, r2c2 (got 'html5')",
        ),
        (
            "collections.film.questions",
            "q.jsonl",
            "collections.film.questions: must be a block of keys (got 'q.jsonl')",
        ),
        ("collections.film.documents.path", 3, "collections.film.documents.path: must be text or a list (got 3)"),
        ("models.embedder", None, "models.embedder: must be a block of keys (got None)"),
        ("retrievers.rrf.dense", 5, "retrievers.rrf.dense: must be a block of keys or null (got 5)"),
        (
            "experiments.main.systems",
            ["bitme"],
            "experiments.main.systems.0: unknown name 'bitme'; did you mean 'bitem'?",
        ),
        (
            "experiments.main.collections",
            ["films"],
            "experiments.main.collections.0: unknown name 'films'; did you mean",
        ),
        ("experiments.main.retrievers", ["bm25"], "experiments.main.retrievers.0: unknown name 'bm25'; legal: dense, "),
        (
            "experiments.retrieval.systems",
            ["bitem"],
            "experiments.retrieval.collections.2: collections.hotpotqa-pooled.answers is false, and systems need",
        ),
        ("published.films", SHIPPED["published"]["hotpotqa-pooled"], "published.films: unknown collection 'films'"),
        ("evaluation.significance.trials", 5, "evaluation.significance.trials: must be at least 100 (got 5)"),
        ("reporting.experiments", ["mian"], "reporting.experiments.0: unknown experiment 'mian'; did you mean 'main'?"),
        ("confidence.answers", "AC-9", "confidence.answers: must be one of runs.answers (AC-1, AC-2, "),
        (
            "systems.bitem.retriever",
            "hybird",
            "systems.bitem.retriever: unknown retriever 'hybird'; did you mean 'hybrid'?",
        ),
        (
            "systems.bitem-no-dense.extends",
            "bitm",
            "systems.bitem-no-dense.extends: unknown system 'bitm'; did you mean",
        ),
        (
            "systems.bitem-no-dense.set",
            {"retriever.dens": None},
            "systems.bitem-no-dense.set.retriever.dens: the system has no such key to set; did you mean",
        ),
        (
            "systems.bitem-no-dense.set",
            {"gate.min_nuggets": -1},
            "systems.bitem-no-dense.gate.min_nuggets: must be at least 0 (got -1)",
        ),
        (
            "systems.bitem-no-dense.set",
            {"retriever.dense": {"dpeth": 3}},
            "systems.bitem-no-dense.retriever.dense.dpeth: unknown key; did you mean 'depth'?",
        ),
        ("retrievers.dense.dense.index", "exakt", "retrievers.dense.dense.index: unknown name 'exakt'; did you mean"),
        (
            "systems.bitem-no-dense.set",
            {"retriever.dense.index": "exakt"},
            "systems.bitem-no-dense.retriever.dense.index: unknown name 'exakt'; did you mean 'exact'?",
        ),
        ("indexes.dense.exact.vectors", "txet", "indexes.dense.exact.vectors: unknown name 'txet'; did you mean"),
        ("indexes.dense.exact.type", "pq", "indexes.dense.exact.type: must be one of flat, fp16, sq8, ivf, hnsw"),
        ("indexes.dense.exact.lists", 5, "indexes.dense.exact.type: flat takes nothing beside it (got lists)"),
        ("indexes.dense.exact.type", "sq8", "indexes.dense.exact.type: sq8 takes rescore beside it (got nothing)"),
        ("indexes.dense.exact.device", "gpu", "indexes.dense.exact.device: must match"),
        (
            "indexes.vectors.my_names",
            {"names": 1, "origins": []},
            "indexes.vectors.my_names: the name becomes a folder",
        ),
        ("retrievers.lexical.lexical.engine", "lucene", "engine: must be one of tantivy, terrier (got 'lucene')"),
        ("models.verifier.band", [0.7, 0.3], "band: must be the lowest score, then the highest (got [0.7, 0.3])"),
        ("models.verifier.band", [0.3, 1.7], "models.verifier.band.1: must be at most 1 (got 1.7)"),
        ("models.verifier.band", [0.3], "models.verifier.band: must hold at least 2 (got 1)"),
        ("models.verifier.band", [0.1, 0.2, 0.3], "models.verifier.band: must hold at most 2 (got 3)"),
        ("models.verifier.second", {"bsae": "x"}, "second.bsae: unknown key; did you mean 'base'?"),
        ("models.verifier.encoder.batch_size", 1, "encoder.batch_size: must be at least 4 (got 1)"),
        ("systems.bitem.passes.minimum", 5, "passes: minimum must be at most maximum (got 5 and 4)"),
        ("systems.corpus", {"extends": "bitem"}, "systems.corpus: reserved: results/ has a folder of this name"),
        ("systems.retrieval", {"extends": "bitem"}, "systems.retrieval: reserved"),
        ("collections.tables", SHIPPED["collections"]["film"], "collections.tables: reserved"),
        ("systems.my/system", {"extends": "bitem"}, "systems.my/system: the name becomes a folder"),
        ("collections.Film", SHIPPED["collections"]["film"], "collections.Film: the name becomes a folder"),
        ("systems..", {"extends": "bitem"}, "the name becomes a folder"),
    ],
)
def test_a_wrong_value_is_refused_with_key_finding_and_what_is_allowed(config, check, key, value, message):
    if key == "systems..":
        config["systems"][".."] = value
    else:
        put(config, key, value)
    with pytest.raises(ConfigError, match=re.escape(message)):
        check(config)


@pytest.mark.parametrize(
    "key", ["evaluation", "systems.bitem.gate", "corpus.chunking.target_words", "models.reader.sentences"]
)
def test_a_missing_key_is_refused_with_its_meaning(config, check, key):
    drop(config, key)
    with pytest.raises(ConfigError, match=re.escape(f"config.yaml: {key}: missing key")):
        check(config)


def test_all_missing_keys_of_a_block_are_told_at_once(config, check):
    for key in ("licence", "sample", "shards"):
        drop(config, f"collections.film.{key}")
    with pytest.raises(ConfigError, match=r"film.licence: missing key .*; also missing: sample, shards$"):
        check(config)


def test_a_system_without_retriever_is_refused(config, check):
    drop(config, "systems.bitem.retriever")
    with pytest.raises(ConfigError, match=re.escape("systems.bitem.retriever: missing key")):
        check(config)


def test_a_circle_of_extends_is_refused_and_drawn(config, check):
    config["systems"] |= {"a": {"extends": "b"}, "b": {"extends": "c"}, "c": {"extends": "a"}}
    with pytest.raises(ConfigError, match=r"systems\.a\.extends: a circle \(a -> b -> c -> a\)"):
        check(config)


def test_the_misspelt_key_is_named_and_not_the_one_that_it_leaves_missing(config, check):
    config["evaluation"]["mesures"] = config["evaluation"].pop("measures")
    with pytest.raises(ConfigError, match=r"evaluation\.mesures: unknown key; did you mean 'measures'"):
        check(config)


def test_the_message_names_the_file_that_holds_the_key(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(yaml.safe_dump(config))
    Path("mine.yaml").write_text("evaluation: {bootstrap: {resamples: 5}}")
    config["evaluation"]["bootstrap"]["resamples"] = 5
    with pytest.raises(ConfigError, match=r"^mine.yaml: evaluation\.bootstrap\.resamples: must be at least 100"):
        resolve(config, SCHEMA, root=tmp_path, files=["config.yaml", "mine.yaml"])


def test_a_key_from_the_command_line_is_said_to_come_from_there(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(yaml.safe_dump(config))
    config["smaple"] = 3
    with pytest.raises(ConfigError, match=r"^--config: smaple: unknown key"):
        resolve(config, SCHEMA, root=tmp_path, files=["config.yaml"])


def test_without_a_near_name_all_legal_ones_are_listed():
    assert nearest("zzz", ["b", "a"]) == "legal: a, b"


# --- what comes out -------------------------------------------------------------------------------


def test_a_system_holds_its_retriever_as_a_block(config, check):
    resolved = check(config)
    assert resolved["systems"]["bitem"]["retriever"] == resolved["retrievers"]["hybrid"]
    del resolved["retrievers"]["hybrid"]["dense"]
    assert resolved["retrievers"]["hybrid"].items() <= SHIPPED["retrievers"]["hybrid"].items()


def test_a_retriever_holds_its_dense_index_as_a_block_with_building_apart_from_search(config, check):
    config["systems"]["bitem-ivf"] = {"extends": "bitem", "set": {"retriever.dense.index": "ivf"}}
    resolved = check(config)
    ivf = resolved["systems"]["bitem-ivf"]["retriever"]["dense"]["index"]
    assert ivf == resolved["indexes"]["dense"]["ivf"] == {
        "name": "ivf",
        "vectors": "text",
        "build": {"type": "ivf", "lists": 128, "codes": "float32"},
        "search": {"device": "cpu", "probes": 16, "rescore": 2},
    }  # fmt: skip
    assert resolved["systems"]["bitem"]["retriever"]["dense"]["index"]["name"] == "exact"


def test_set_changes_the_extending_system_and_no_other(config, check):
    systems = check(config)["systems"]
    assert systems["bitem-no-dense"]["retriever"]["dense"] is None
    assert systems["bitem"]["retriever"]["dense"]["depth"] == 100
    differing = {key for key in systems["bitem"] if systems["bitem"][key] != systems["bitem-no-dense"][key]}
    assert differing == {"retriever"}


def test_extends_follows_a_chain_and_the_nearest_change_wins(config, check):
    config["systems"]["a"] = {"extends": "bitem", "set": {"gate.min_nuggets": 1, "limits.turns": 9}}
    config["systems"]["b"] = {"extends": "a", "set": {"gate.min_nuggets": 0}}
    system = check(config)["systems"]["b"]
    assert (system["gate"]["min_nuggets"], system["limits"]["turns"]) == (0, 9)


def test_an_own_key_replaces_the_whole_key_of_the_base(config, check):
    config["systems"]["c"] = {"extends": "bitem", "retriever": "lexical"}
    assert check(config)["systems"]["c"]["retriever"] == SHIPPED["retrievers"]["lexical"]


def test_no_trace_of_extends_or_set_is_left(config, check):
    for system in check(config)["systems"].values():
        assert not {"extends", "set"} & set(system)


def test_the_given_configuration_is_not_changed(config, check):
    before = copy.deepcopy(config)
    check(config)
    assert config == before


def test_the_order_of_keys_changes_nothing(config, check):
    def reverse(value):
        return {k: reverse(value[k]) for k in reversed(value)} if isinstance(value, dict) else value

    assert repr(check(config)) == repr(check(reverse(config)))


def test_paths_start_from_the_root_and_are_relative_to_the_working_directory(config, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("c.yaml").write_text(yaml.safe_dump(config))
    config["collections"]["film"]["questions"]["path"] = ["/data/questions.jsonl", "more.jsonl"]
    config["models"]["reader"]["adapter"] = None
    config["models"]["verifier"]["second"] = config["models"]["verifier"]["encoder"] | {"adapter": "larger"}
    found = resolve(config, SCHEMA, root=tmp_path, files=["c.yaml"])
    assert found["collections"]["film"]["documents"]["path"] == (
        "../" + SHIPPED["collections"]["film"]["documents"]["path"]
    )
    first, second = found["collections"]["film"]["questions"]["path"]
    assert Path(first).resolve() == Path("/data/questions.jsonl")
    assert second == "../more.jsonl"
    assert found["models"]["reranker"]["adapter"] == "../" + SHIPPED["models"]["reranker"]["adapter"]
    assert found["models"]["reader"]["adapter"] is None
    assert found["models"]["verifier"]["second"]["adapter"] == "../larger"


# --- the shipped file and its schema --------------------------------------------------------------


def described(part, prefix=()):
    """Yield (path, properties) of everything that the schema names; a chosen name is written *."""
    if "$ref" in part:
        part = SCHEMA["$defs"][part["$ref"].rsplit("/", 1)[-1]]
    for key, value in part.get("properties", {}).items():
        yield (*prefix, key), value
        yield from described(value, (*prefix, key))
    if isinstance(part.get("additionalProperties"), dict):
        yield from described(part["additionalProperties"], (*prefix, "*"))


# blocks whose keys are names of the user's choice
NAMED = {
    ("imports",),
    ("published",),
    ("collections",),
    ("imports",),
    ("retrievers",),
    ("systems",),
    ("experiments",),
    ("indexes", "vectors"),
    ("indexes", "dense"),
    ("systems", "*", "policy", "types", "advice"),
}


def written(value, prefix=()):
    """Yield the paths of config.yaml in the same form."""
    if not isinstance(value, dict) or prefix[-1:] == ("set",):
        return
    for key, inner in value.items():
        named = prefix in NAMED
        path = (*prefix, "*" if named else key)
        if not named:
            yield path
        yield from written(inner, path)


def test_schema_and_config_name_the_same_keys():
    second = ("models", "verifier", "second")  # null as shipped; a block as encoder, whose keys stand there
    in_schema = {path for path, _ in described(SCHEMA) if path[:-1] != second}
    assert in_schema == set(written(SHIPPED)), "edit config.yaml and workflow/schemas/config.schema.yaml together"


def test_the_schema_is_closed_at_every_level():
    def objects(part, path=""):
        if isinstance(part, dict):
            if "properties" in part:
                yield path, part.get("additionalProperties")
            for key, value in part.items():
                yield from objects(value, f"{path}/{key}")

    assert [path for path, closed in objects(SCHEMA) if closed is not False] == []


def test_every_leaf_of_the_schema_says_what_it_means():
    leaves = [(path, part) for path, part in described(SCHEMA) if "$ref" not in part]
    assert [".".join(path) for path, part in leaves if not part.get("description")] == []


def test_the_schema_holds_no_defaults():
    assert "default:" not in (ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text()


def test_every_key_of_the_config_is_commented_where_it_first_stands():
    """A key of a part that is used more than once, such as a cross-encoder, is commented once."""
    commented, keys, stack = set(), set(), []
    above = ""
    for line in (ROOT / "config.yaml").read_text().splitlines():
        if match := re.match(r"( *)([\w-]+):", line):
            depth = len(match[1]) // 2
            stack[depth:] = ["*" if tuple(stack[:depth]) in NAMED else match[2]]
            keys.add(tuple(stack))
            if "#" in line or above.lstrip().startswith("#"):
                commented.add(tuple(stack))
        above = line
    parts = {path: id(part) for path, part in described(SCHEMA)}
    explained = {parts[path] for path in commented & parts.keys()}
    leaves = {path for path in keys & parts.keys() if len(path) > 1}
    assert [".".join(path) for path in sorted(leaves) if parts[path] not in explained] == []


def test_the_schema_lists_the_formats_that_there_are():
    from calibrag.collections.reading import QUESTIONS, READERS

    parts = SCHEMA["$defs"]["collection"]["properties"]
    assert parts["documents"]["properties"]["format"]["enum"] == list(READERS)
    assert parts["questions"]["properties"]["format"]["enum"] == ["jsonl", *QUESTIONS]
