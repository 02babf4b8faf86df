"""The whole workflow on a few real questions with the real small models: every file promised, and its numbers."""

import gzip
import json

import pandas as pd
import pytest
import yaml
from conftest import Workflow

from calibrag.execution.trace_validation import check_traces
from calibrag.retrieval.runs import read_run

COLLECTIONS = ["film", "hotpotqa-open"]
RETRIEVERS = ["lexical", "lexical-no-names"]
# single-pass files nothing: the reader writes no reasoning
RUNS = ["AC-1", "AC-2", "AC-3", "AC-3-per-pass", "four-pass", "constant-50", "always-100", "always-0"]
FITTED = ["fitted-boosting", "fitted-boosting-sharp", "fitted-logistic", "fitted-logistic-sharp", "base-rate"]
ASKED = ["model-as-judge", "capped-self-confidence"]
SETTINGS = {
    "collections": {name: {"sample": {"size": 3}} for name in [*COLLECTIONS, "hotpotqa-pooled"]},
    "experiments": {"retrieval": {"retrievers": RETRIEVERS}, "logs": {"collections": ["react-hotpotqa"]}},
    "reporting": {"experiments": ["main", "logs"]},
    "systems": {"bitem": {"passes": {"minimum": 1, "maximum": 2}}},
    "execution": {"shards": 2},
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results folder of one run of ``all``, and what the run printed."""
    workflow = Workflow(tmp_path_factory.mktemp("run"))
    workflow.changes = SETTINGS
    extra = [f"results/tables/retrieval/{name}.csv" for name in ("retrieval", "significance", "published")]
    done = workflow.run("--cores", "2", "--", "all", *extra)
    assert done.returncode == 0, done.output
    return workflow, done.output


@pytest.fixture
def results(finished):
    return finished[0].folder / "results"


def table(results, name, experiment="main"):
    return pd.read_csv(results / "tables" / experiment / f"{name}.csv")


def records(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def traces(results, collection, number):
    """Return qid -> its trace of a pass, which two jobs have shared."""
    files = (results / collection / "bitem" / f"pass-{number}").glob("*-of-2/traces.jsonl")
    return {trace["qid"]: trace for file in files for trace in records(file)}


def test_every_table_has_a_csv_and_a_markdown_file_of_as_many_rows(results):
    runs = [f"{kind}_{table}" for kind in ("passage", "answer") for table in ("runs", "types")]
    for name in ("collections", "models", "reader", "retrieval", "significance", *runs):
        rows = table(results, name)
        markdown = (results / "tables" / "main" / f"{name}.md").read_text()
        assert len(rows) > 0
        assert sum(line.startswith("|") for line in markdown.splitlines()) == len(rows) + 2


def test_tables_name_every_collection_retriever_and_run_on_the_questions_drawn(results):
    retrieval, answers = table(results, "retrieval"), table(results, "answer_runs")
    assert len(retrieval) == len(COLLECTIONS) * 4
    assert list(answers["run"]) == [*RUNS, *FITTED, *ASKED] * len(COLLECTIONS)
    for rows in (retrieval, answers, table(results, "passage_runs")):
        assert list(rows["collection"].unique()) == COLLECTIONS
        assert (rows["n_asked"] == 3).all()


def test_measures_lie_in_their_ranges_and_inside_their_intervals(results):
    retrieval, answers = table(results, "retrieval"), table(results, "answer_runs")
    for rows, names in (
        (retrieval, ["nDCG@20", "Q@20", "R@20"]),
        (answers, ["accuracy", "EM", "F1", "R_O", "R_U", "HMR", "Brier", "AURC"]),
    ):
        for name in names:
            assert rows[name].between(0, 1).all()
            assert (rows[f"{name}_low"] <= rows[name]).all()
            assert (rows[name] <= rows[f"{name}_high"]).all()
    assert answers["accHMR"].to_numpy() == pytest.approx((answers["accuracy"] * answers["HMR"]).to_numpy())


def test_retrieval_finds_support(results):
    hybrid = table(results, "retrieval").query("retriever == 'hybrid'")
    assert (hybrid["R@20"] > 0.3).all()


def test_the_retrieval_experiment_compares_its_retrievers_on_three_collections(results):
    retrieval, pairs = table(results, "retrieval", "retrieval"), table(results, "significance", "retrieval")
    assert list(retrieval["retriever"]) == RETRIEVERS * 3
    assert len(pairs) == 3 * 3
    assert (pairs["won"] + pairs["lost"] + pairs["tied"] == pairs["n"]).all()
    means = retrieval.set_index(["collection", "retriever"])
    for row in pairs.itertuples():
        first, second = (means.loc[(row.collection, name), row.measure] for name in (row.first, row.second))
        assert row.difference == pytest.approx(first - second)


def test_rankings_stand_beside_published_ones(results):
    published = table(results, "published", "retrieval")
    assert list(published["source"]) == ["printed"] * 3 + ["recomputed"] * 2 + ["ours"] * 2 + ["difference"] * 2


def test_a_second_pass_never_sees_what_the_first_recorded(results):
    for collection in COLLECTIONS:
        first, second = traces(results, collection, 1), traces(results, collection, 2)
        assert len(first) == len(second) == 3
        for qid, trace in second.items():
            recorded = {nugget["passage_id"] for nugget in first[qid]["nuggets"]}
            assert recorded == set(trace["excluded"])
            assert not recorded & set(trace["retrieved"])


def test_answers_cite_passages_that_are_filed(results):
    for collection in COLLECTIONS:
        runs = results / collection / "bitem" / "runs"
        filed = {(line.split()[0], line.split()[2]) for line in (runs / "PG-2.txt").read_text().splitlines()}
        for entry in records(runs / "answers.jsonl"):
            assert {(entry["qid"], nugget["passage_id"]) for nugget in entry["nuggets"]} <= filed


def test_the_run_config_holds_the_unfolded_settings(results):
    written = yaml.safe_load((results / "run_config.yaml").read_text())
    assert written["config"]["systems"]["bitem"]["passes"]["maximum"] == 2
    assert written["provenance"]["versions"]["snakemake"]


def test_every_job_leaves_a_log_and_a_benchmark(results):
    logs = {path.relative_to(results / "logs").with_suffix("") for path in (results / "logs").rglob("*.log")}
    times = {
        path.relative_to(results / "benchmarks").with_suffix("") for path in (results / "benchmarks").rglob("*.tsv")
    }
    assert logs == times
    assert all(path.stat().st_size for path in (results / "logs").rglob("*.log"))


def test_the_run_shows_its_progress_and_ends_with_where_the_results_lie(finished):
    _, output = finished
    assert "execution    run_pass film bitem 1" in output
    assert "results  results/tables/main/index.html" in output
    assert "figures  results/figures/main/: 5" in output


def test_a_second_run_does_nothing(finished):
    workflow, _ = finished
    assert workflow.plan("all") == {}


def test_the_report_holds_tables_and_figures_with_their_captions(finished):
    workflow, _ = finished
    done = workflow.run("--report", "results/report.html")
    assert done.returncode == 0, done.output
    html = (workflow.folder / "results" / "report.html").read_text()
    assert "accuracy_hmr.svg" in html
    assert "seed 13" in html


def test_every_trace_keeps_the_rules_of_traces(results):
    checked = check_traces(sorted(results.glob("*/*/pass-*/*/traces.jsonl")))
    assert [str(violation) for violation in checked.violations] == []
    assert checked.traces > 0


def test_traces_are_exported_as_runs_and_answers_with_citations(results):
    for collection in COLLECTIONS:
        exports = results / collection / "bitem" / "exports"
        assert read_run(exports / "trec_hops" / "pass-1" / "hop-1.txt")
        answers = records(exports / "trec_rag" / "AC-1.jsonl")
        runs = records(results / collection / "bitem" / "runs" / "answers.jsonl")
        filed = [entry for entry in runs if entry["run"] == "AC-1"]
        assert [answer["topic_id"] for answer in answers] == [entry["qid"] for entry in filed]
        assert [answer["confidence"] for answer in answers] == [entry["confidence"] for entry in filed]
