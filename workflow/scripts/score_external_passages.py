"""Measure the passage runs of others on each question."""

from calibrag.evaluation.passage_runs import score_rankings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels
from calibrag.runs.external import read_external_passages

files = snakemake.input

with logged(snakemake.log[0]) as job:
    qids = [question.qid for question in read_jsonl(files.questions, Question)]
    runs = read_external_passages(files.files, qids)
    scores = score_rankings(runs, read_qrels(files.qrels), snakemake.params.measures, qids)
    scores.insert(0, "system", "external")
    scores.insert(0, "collection", snakemake.wildcards.collection)
    scores.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(runs)} runs, {len(qids)} questions")
