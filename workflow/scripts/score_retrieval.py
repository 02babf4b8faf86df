"""Measure a retriever's ranking of each question."""

from calibrag.evaluation.passage_runs import score_passage_run
from calibrag.evaluation.trec import read_qrels, read_rankings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl

with logged(snakemake.log[0]) as job:
    scores = score_passage_run(
        run=read_rankings(snakemake.input.ranking),
        qrels=read_qrels(snakemake.input.qrels),
        measures=snakemake.params.measures,
        qids=[question.qid for question in read_jsonl(snakemake.input.questions, Question)],
    )
    scores.insert(0, "retriever", snakemake.wildcards.retriever)
    scores.insert(0, "collection", snakemake.wildcards.collection)
    scores.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(scores)} questions")
