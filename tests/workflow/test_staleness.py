"""What is made anew after a change, and what is not.

A copy of the workflow gets results that are empty files, marked as made by ``snakemake --touch``; then something is
changed, and a dry run says which rules would run.
"""

import shutil
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, Workflow

EVERY_TARGET = ("all", "results/tables/ablations/answer_runs.csv", "results/tables/ablations/ablations.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A copy of the workflow with finished results."""
    folder = tmp_path_factory.mktemp("finished")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for part in ("workflow", "envs", "tests/toy"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for file in ("Snakefile", "config.yaml", "requirements.in"):
        shutil.copy(ROOT / file, folder / file)
    workflow = Workflow(folder)
    workflow.root = folder
    summary = workflow.run("--summary", "--", *EVERY_TARGET)
    assert summary.returncode == 0, summary.output
    for line in summary.stdout.splitlines()[1:]:
        path = folder / line.split("\t")[0]
        # an output without a suffix is a folder
        (path.parent if path.suffix else path).mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
    touched = workflow.run("--touch", "--forceall", "--cores", "1", "--", *EVERY_TARGET)
    assert touched.returncode == 0, touched.output
    return workflow


@pytest.fixture
def copied(finished, tmp_path):
    """A copy of the finished folder, to be changed."""
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    workflow = Workflow(folder)
    workflow.root = folder
    return workflow


def stale(workflow, *targets):
    """Return the rules that a run would do, without the targets themselves."""
    return set(workflow.plan(*(targets or EVERY_TARGET))) - {"all", "tables"}


def edit(path: Path, old: str, new: str):
    text = path.read_text()
    assert old in text, f"{path} holds no {old!r}"
    path.write_text(text.replace(old, new, 1))


def test_after_no_change_nothing_is_made(copied):
    assert stale(copied) == set()


def test_after_an_edit_in_evaluation_only_evaluation_and_what_follows_is_made(copied):
    edit(
        copied.root / "workflow/src/calibrag/evaluation/answers.py",
        "def exact_match(",
        "EDITED = 1\n\n\ndef exact_match(",
    )
    assert stale(copied) == {
        "compare_ablation",
        "draw_accuracy_hmr",
        "draw_reliability",
        "draw_risk_coverage",
        "draw_signal_auroc",
        "draw_type_bars",
        "export_traces",
        "extract_signals",
        "fit_confidence",
        "label_answers",
        "list_errors",
        "permute_labels",
        "score_answer_runs",
        "score_reader",
        "score_signals",
        "tabulate_ablations",
        "tabulate_answer_runs",
        "tabulate_answer_significance",
        "tabulate_answer_types",
        "tabulate_confidence",
        "tabulate_cost",
        "tabulate_errors",
        "tabulate_labels",
        "tabulate_length",
        "tabulate_permuted",
        "tabulate_reader",
        "tabulate_signals",
        "transfer_confidence",
        "write_results_page",
        "write_run_config",
        "write_trace_pages",
    }


def test_after_an_edited_template_only_the_trace_pages_and_what_links_to_them_are_made(copied):
    edit(copied.root / "workflow/src/calibrag/reporting/templates/question.html", "<h1", "<h1 data-edited")
    assert stale(copied) == {"write_trace_pages", "write_results_page", "write_run_config"}


def test_after_an_edit_in_chunking_everything_from_the_passages_on_is_made(copied):
    edit(copied.root / "workflow/src/calibrag/corpus/chunking.py", "def chunk(", "EDITED = 1\n\n\ndef chunk(")
    rules = stale(copied)
    assert "chunk_documents" in rules
    assert "run_pass" in rules
    assert not {"read_documents", "evaluate_adapter"} & rules


@pytest.mark.parametrize(
    "file",
    [
        "workflow/src/calibrag/evaluation/answers.py",
        "workflow/src/calibrag/records.py",
        "workflow/scripts/chunk_documents.py",
        "Snakefile",
        "workflow/rules/corpus.smk",
        "config.yaml",
    ],
)
def test_after_a_comment_nothing_is_made(copied, file):
    path = copied.root / file
    path.write_text(path.read_text() + "\n# a comment\n")
    assert stale(copied) == set()


def test_after_a_docstring_nothing_is_made(copied):
    edit(copied.root / "workflow/scripts/chunk_documents.py", '"""Cut', '"""Really cut')
    edit(copied.root / "workflow/src/calibrag/evaluation/answers.py", '"""Return', '"""Hand back')
    assert stale(copied) == set()


def test_after_a_change_of_one_system_only_its_own_jobs_are_made(copied):
    changed = {"systems": {"bitem-no-dense": {"set": {"retriever.dense": None, "gate.min_nuggets": 1}}}}
    copied.changes = changed
    plan = copied.plan(*EVERY_TARGET)
    plan.pop("write_run_config", None)
    collections = 2
    assert plan == {
        "all": 1,
        "run_pass": 4 * collections,
        "select_passage_runs": collections,
        "select_answer_runs": collections,
        "label_answers": collections,
        "extract_signals": collections,
        "fit_confidence": collections,
        "score_passage_runs": collections,
        "score_answer_runs": collections,
        "compare_ablation": collections,
        "tabulate_answer_runs": 1,
        "tabulate_ablations": 1,
    }


def test_after_a_change_of_one_retriever_its_ranking_and_the_systems_that_take_it_are_made(copied):
    copied.changes = {"retrievers": {"rrf": {"rrf_k": 10}}}
    plan = copied.plan(*EVERY_TARGET)
    assert plan["rank_questions"] == 2
    assert "run_pass" not in plan


def test_another_number_format_of_queries_embeds_no_passage(copied):
    copied.changes = {"models": {"embedder": {"query_dtype": "bfloat16"}}}
    rules = stale(copied)
    assert "rank_questions" in rules and not {"embed_passages", "build_dense_index"} & rules


def test_what_search_alone_reads_builds_no_index(copied):
    copied.changes = {"indexes": {"dense": {"exact": {"device": "cuda"}}}}
    rules = stale(copied)
    assert "rank_questions" in rules and not {"embed_passages", "build_dense_index"} & rules


def test_after_a_changed_bootstrap_only_tables_and_figures_are_made(copied):
    copied.changes = {"evaluation": {"bootstrap": {"resamples": 300}}}
    assert stale(copied) == {
        "compare_ablation",
        "draw_accuracy_hmr",
        "draw_signal_auroc",
        "draw_type_bars",
        "score_reader",
        "score_signals",
        "tabulate_ablations",
        "tabulate_answer_runs",
        "tabulate_answer_significance",
        "tabulate_answer_types",
        "tabulate_confidence",
        "tabulate_length",
        "tabulate_passage_runs",
        "tabulate_passage_significance",
        "tabulate_passage_types",
        "tabulate_reader",
        "tabulate_retrieval",
        "tabulate_signals",
        "tabulate_significance",
        "tabulate_verifier",
        "transfer_confidence",
        "write_results_page",
        "write_run_config",
    }


def test_after_a_new_date_of_the_same_questions_nothing_is_made(copied):
    config = yaml.safe_load((copied.root / "tests/toy/config.yaml").read_text())
    (copied.root / config["collections"]["film"]["questions"]["path"]).touch()
    assert stale(copied) == set()


def test_after_a_changed_question_no_index_is_made(copied):
    config = yaml.safe_load((copied.root / "tests/toy/config.yaml").read_text())
    questions = copied.root / config["collections"]["film"]["questions"]["path"]
    questions.write_bytes(questions.read_bytes() + b"changed")
    rules = stale(copied)
    assert "read_questions" in rules
    assert (
        not {"read_documents", "chunk_documents", "annotate_passages", "build_sparse_index", "embed_passages"} & rules
    )
