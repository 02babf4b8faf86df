"""Measure PG-1 and PG-2 as filed and at one length, on each question."""

from itertools import islice

from calibrag.evaluation.passage_runs import score_rankings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels, read_rankings
from calibrag.runs.list_length import DeeperSearch, at_one_length

files, names = snakemake.input, snakemake.wildcards

with logged(snakemake.log[0]) as job:
    runs = at_one_length(*map(read_rankings, files.runs), read_jsonl(files.deeper, DeeperSearch))
    qids = [each.qid for each in islice(read_jsonl(files.questions, Question), snakemake.params.asked)]
    scores = score_rankings(runs, read_qrels(files.qrels), snakemake.params.measures, qids)
    scores.insert(0, "system", names.system)
    scores.insert(0, "collection", names.collection)
    scores.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(runs)} runs, {len(qids)} questions")
