"""Measure what an approximate dense index finds of what exact search finds."""

from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.opening import open_dense
from calibrag.retrieval.recall import DEPTHS, measure_recall

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    queries = [(question.qid, question.text) for question in read_jsonl(files.questions, Question)]
    retriever = open_dense(params.index, max(DEPTHS), files.index, files.vectors, params.models, snakemake.threads)
    table = measure_recall(retriever, queries)
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{table.groupby('depth')['recall'].mean().to_dict()}")
