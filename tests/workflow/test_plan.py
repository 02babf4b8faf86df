"""What a run would do: the jobs of each target, and errors before the first job."""

import pytest
import yaml


def test_all_runs_every_rule_except_the_training_of_adapters(workflow):
    plan = workflow.plan("all")
    assert plan == {
        "all": 1,
        "read_documents": 2,
        "read_questions": 2,
        "chunk_documents": 2,
        "annotate_passages": 2,
        "assign_names": 2,
        "unite_names": 2,
        "evaluate_names": 2,
        "build_qrels": 2,
        "build_sparse_index": 2,
        "embed_passages": 2,
        "build_dense_index": 2,
        "index_names": 2,
        "rank_questions": 8,
        "unpack_reader": 1,
        "evaluate_adapter": 2,
        "run_pass": 8,
        "evaluate_reader": 2,
        "score_reader": 2,
        "select_passage_runs": 2,
        "select_answer_runs": 2,
        "search_deeper": 2,
        "score_retrieval": 2,
        "score_passage_runs": 2,
        "control_list_length": 2,
        "score_answer_runs": 2,
        "ask_again": 2,
        "label_answers": 2,
        "list_errors": 2,
        "tabulate_labels": 1,
        "measure_cost": 2,
        "extract_signals": 2,
        "score_signals": 2,
        "tabulate_collections": 1,
        "tabulate_names": 1,
        "tabulate_models": 1,
        "score_claims": 1,
        "tabulate_verifier": 1,
        "tabulate_reader": 1,
        "tabulate_length": 1,
        "tabulate_signals": 1,
        "tabulate_errors": 1,
        "tabulate_cost": 1,
        "tabulate_retrieval": 1,
        "tabulate_significance": 1,
        "tabulate_passage_runs": 1,
        "tabulate_passage_significance": 1,
        "tabulate_passage_types": 1,
        "tabulate_answer_runs": 1,
        "fit_confidence": 2,
        "permute_labels": 2,
        "transfer_confidence": 1,
        "tabulate_confidence": 1,
        "tabulate_permuted": 1,
        "tabulate_answer_significance": 1,
        "tabulate_answer_types": 1,
        "draw_accuracy_hmr": 1,
        "draw_reliability": 1,
        "draw_risk_coverage": 1,
        "draw_signal_auroc": 1,
        "draw_type_bars": 1,
        "write_results_page": 1,
        "export_traces": 6,
        "write_trace_pages": 2,
        "write_run_config": 1,
    }


def test_an_ablation_needs_its_own_jobs_only(workflow):
    plan = workflow.plan("results/film/bitem-no-dense/evaluation/answers.csv")
    assert plan == {
        "read_documents": 1,
        "read_questions": 1,
        "chunk_documents": 1,
        "annotate_passages": 1,
        "assign_names": 1,
        "unite_names": 1,
        "build_qrels": 1,
        "build_sparse_index": 1,
        "index_names": 1,
        "unpack_reader": 1,
        "run_pass": 4,
        "select_passage_runs": 1,
        "select_answer_runs": 1,
        "extract_signals": 1,
        "fit_confidence": 1,
        "label_answers": 1,
        "score_answer_runs": 1,
    }


def test_runs_of_others_are_scored_where_a_folder_holds_some(workflow, tmp_path):
    (tmp_path / "others/film").mkdir(parents=True)
    (tmp_path / "others/film/X-AC-1.txt").write_text("<D1>\nx;1\n</D1>\n")
    workflow.changes = {"evaluation": {"external_runs": str(tmp_path / "others")}}
    plan = workflow.plan("results/tables/main/answer_runs.csv", "results/tables/main/passage_runs.csv")
    assert (plan["read_external_answers"], plan["score_external_passages"]) == (1, 1)
    assert (plan["label_answers"], plan["score_answer_runs"], plan["score_passage_runs"]) == (3, 3, 2)
    workflow.changes = {}
    assert not {"read_external_answers", "score_external_passages"} & set(workflow.plan("all"))


def test_an_ablation_is_compared_with_the_system_that_it_extends(workflow):
    plan = workflow.plan("results/film/bitem-no-exclusion/evaluation/ablation.csv")
    # its first pass is that of its base
    assert (plan["run_pass"], plan["score_answer_runs"], plan["compare_ablation"]) == (7, 2, 1)
    done = workflow.run("--dry-run", "results/film/bitem/evaluation/ablation.csv")
    assert done.returncode != 0 and "systems.bitem: extends no system" in done.output
    done = workflow.run("--dry-run", "results/tables/main/ablations.csv")
    assert done.returncode != 0 and "experiments.main.systems: must hold a system with its base" in done.output


def test_a_judge_is_asked_where_one_is_named(workflow):
    labels = "results/film/bitem/evaluation/labels.jsonl"
    assert "judge_answers" not in workflow.plan(labels)
    done = workflow.run("--dry-run", "results/film/bitem/evaluation/judged.jsonl")
    assert done.returncode != 0 and "evaluation.labels.judge: must be the path of a prompt" in done.output
    prompt = str(workflow.root / "workflow/resources/prompts/judge_answer.md")
    workflow.changes = {"evaluation": {"labels": {"judge": prompt}}}
    assert workflow.plan(labels)["judge_answers"] == 1


def test_a_lexical_ranking_needs_no_vectors_and_no_adapter(workflow):
    plan = workflow.plan("results/film/retrieval/rankings/lexical.tsv.gz")
    assert not {"embed_passages", "build_dense_index"} & set(plan)
    done = workflow.run("--dry-run", "results/film/retrieval/rankings/lexical.tsv.gz")
    assert "adapter" not in done.output


def test_a_graph_is_built_for_the_systems_that_search_it_and_reported_on_demand(workflow):
    assert "build_graph" not in workflow.plan("results/film/bitem/runs/PG-1.txt")
    plan = workflow.plan("results/film/bitem-graph/evaluation/graph.csv")
    assert (plan["build_graph"], plan["report_graph"], plan["run_pass"]) == (1, 1, 4)


def test_the_retrieval_experiment_is_a_target_of_its_own(workflow):
    plan = workflow.plan("results/tables/retrieval/retrieval.csv", "results/tables/retrieval/published.csv")
    retrievers = yaml.safe_load((workflow.root / "config.yaml").read_text())["experiments"]["retrieval"]["retrievers"]
    assert plan["rank_questions"] == 3 * len(retrievers)
    assert plan["score_retrieval"] == 3
    assert plan["compare_published"] == plan["tabulate_published"] == 1
    assert "run_pass" not in plan


def test_an_experiment_without_systems_reports_no_runs(workflow):
    workflow.changes = {"reporting": {"experiments": ["retrieval"]}}
    plan = workflow.plan("all")
    assert plan["tabulate_significance"] == 1
    assert not {"run_pass", "tabulate_answer_runs", "draw_accuracy_hmr"} & set(plan)


def test_published_results_are_refused_where_there_are_none(workflow):
    done = workflow.run("--dry-run", "results/tables/main/published.csv")
    assert done.returncode != 0
    assert "published: holds no collection of experiments.main (has hotpotqa-pooled)" in done.output


def test_a_retriever_builds_the_dense_index_that_it_names_shard_by_shard(workflow):
    workflow.changes = {
        "collections": {"film": {"shards": 3}},
        "retrievers": {"dense": {"dense": {"index": "exact-names"}}},
    }
    plan = workflow.plan("results/film/retrieval/rankings/dense.tsv.gz")
    assert (plan["embed_passages"], plan["build_dense_index"]) == (3, 1) and "build_sparse_index" not in plan
    done = workflow.run("--summary", "results/film/retrieval/rankings/dense.tsv.gz")
    assert "vectors/names-and-text/3-of-3.npy" in done.output and "vectors/text" not in done.output


def test_recall_and_terrier_are_made_on_demand(workflow):
    plan = workflow.plan("results/film/retrieval/dense/hnsw/recall.csv")
    assert plan["measure_recall"] == plan["build_dense_index"] == plan["embed_passages"] == 1
    assert "build_sparse_index" not in plan
    workflow.changes = {"retrievers": {"lexical": {"lexical": {"engine": "terrier"}}}}
    plan = workflow.plan("results/film/retrieval/rankings/lexical.tsv.gz")
    assert plan["build_terrier_index"] == 1 and "build_sparse_index" not in plan


def test_an_adapter_is_trained_on_demand(workflow):
    assert workflow.plan("results/models/reranker/card.json") == {"train_adapter": 1}


def test_more_passes_are_more_jobs(workflow):
    workflow.changes = {"systems": {"bitem": {"passes": {"maximum": 6}}}}
    assert workflow.plan("results/film/bitem/runs/PG-2.txt")["run_pass"] == 6


def test_a_new_experiment_is_a_target_of_its_own(workflow):
    plan = workflow.plan("results/tables/ablations/answer_runs.csv")
    assert plan["score_answer_runs"] == 28
    assert "rank_questions" not in plan


def test_a_study_of_logs_runs_no_agent(workflow):
    plan = workflow.plan("results/tables/logs/confidence.csv")
    assert (plan["import_questions"], plan["import_traces"], plan["fit_confidence"]) == (7, 13, 7)
    assert not {"run_pass", "read_documents", "select_passage_runs"} & set(plan)


@pytest.mark.parametrize(
    "target", ["results/nowhere/corpus/passages.parquet", "results/film/bitme/evaluation/answers.csv"]
)
def test_a_target_with_an_unknown_name_is_refused(workflow, target):
    done = workflow.run("--dry-run", target)
    assert done.returncode != 0
    assert "MissingRuleException" in done.output


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evalution": {}}, "changes.yaml: evalution: unknown key; did you mean 'evaluation'?"),
        (
            {"experiments": {"main": {"systems": ["bitme"]}}},
            "changes.yaml: experiments.main.systems.0: unknown name 'bitme'; did you mean 'bitem'?",
        ),
        (
            {"systems": {"a": {"extends": "b"}, "b": {"extends": "a"}}},
            "changes.yaml: systems.a.extends: a circle (a -> b -> a)",
        ),
        (
            {"systems": {"bitem-no-dense": {"set": {"retriever.desne": None}}}},
            "changes.yaml: systems.bitem-no-dense.set.retriever.desne: the system has no such key to set",
        ),
        ({"models": {"embedder": {"dtype": "int8"}}}, "must be one of float32, bfloat16 (got 'int8')"),
        ({"systems": {"retrieval": {"extends": "bitem"}}}, "systems.retrieval: reserved"),
    ],
)
def test_a_wrong_configuration_stops_the_run_with_one_message(workflow, changes, message):
    workflow.changes = changes
    done = workflow.run("--dry-run", "all")
    assert done.returncode != 0
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_missing_collection_file_is_named(workflow):
    workflow.changes = {"collections": {"film": {"documents": {"path": "nowhere.jsonl"}}}}
    done = workflow.run("--dry-run", "results/film/corpus/passages.parquet")
    assert done.returncode != 0
    assert "nowhere.jsonl" in done.output
