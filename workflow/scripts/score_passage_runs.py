"""Measure the passage runs of a system on each question."""

from itertools import islice
from pathlib import Path

from calibrag.evaluation.passage_runs import score_rankings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels, read_rankings

files, names = snakemake.input, snakemake.wildcards

with logged(snakemake.log[0]) as job:
    runs = {Path(run).stem: read_rankings(run) for run in files.runs}
    qids = [each.qid for each in islice(read_jsonl(files.questions, Question), snakemake.params.asked)]
    scores = score_rankings(runs, read_qrels(files.qrels), snakemake.params.measures, qids)
    scores.insert(0, "system", names.system)
    scores.insert(0, "collection", names.collection)
    scores.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(runs)} runs, {len(qids)} questions")
