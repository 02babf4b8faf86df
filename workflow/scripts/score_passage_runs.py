"""Measure the passage runs of a system on each question."""

from pathlib import Path

import pandas as pd

from calibrag.evaluation.passage_runs import score_passage_run
from calibrag.evaluation.trec import read_qrels, read_rankings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl

with logged(snakemake.log[0]) as job:
    qrels = read_qrels(snakemake.input.qrels)
    qids = [question.qid for question in read_jsonl(snakemake.input.questions, Question)]
    scores = {
        (snakemake.wildcards.collection, snakemake.wildcards.system, Path(run).stem): score_passage_run(
            read_rankings(run), qrels, snakemake.params.measures, qids
        )
        for run in snakemake.input.runs
    }
    table = pd.concat(scores, names=["collection", "system", "run"]).reset_index(level=[0, 1, 2])
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(scores)} runs, {len(qids)} questions")
