"""Measure what an approximate dense index finds of what exact search finds."""

from pathlib import Path

from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.dense import measure_recall
from calibrag.retrieval.opening import open_embedder
from calibrag.retrieval.vectors import Vectors

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    queries = [(question.qid, question.text) for question in read_jsonl(files.questions, Question)]
    embedder = open_embedder(params.embedder, "queries", params.device, snakemake.threads)
    table = measure_recall(Path(files.index[0]).parent, Vectors(files.vectors), embedder, queries, snakemake.threads)
    table.to_csv(snakemake.output[0], index=False)
