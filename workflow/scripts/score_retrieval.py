"""Measure the retrievers' rankings of each question."""

from calibrag.evaluation.passage_runs import score_rankings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels, read_rankings

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    runs = {name: read_rankings(run) for name, run in zip(params.retrievers, files.rankings, strict=True)}
    qids = [question.qid for question in read_jsonl(files.questions, Question)]
    scores = score_rankings(runs, read_qrels(files.qrels), params.measures, qids).rename(columns={"run": "retriever"})
    scores.insert(0, "collection", snakemake.wildcards.collection)
    scores.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(runs)} retrievers, {len(qids)} questions")
