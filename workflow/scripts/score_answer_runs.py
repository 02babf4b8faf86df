"""Judge the answer runs of a system on each question."""

from itertools import islice

import pandas as pd

from calibrag.evaluation.answer_runs import score_answer_run
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels
from calibrag.runs.answer_runs import faults, read_answer_runs

files, names, params = snakemake.input, snakemake.wildcards, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    traces, qrels = read_traces(files.traces), [read_qrels(path) for path in files.qrels]
    scores = {}
    for run, entries in read_answer_runs(files.runs).items():
        errors = faults(traces, run, params.baselines_of)
        scores[names.collection, names.system, run] = score_answer_run(entries, questions, errors, *qrels)
    table = pd.concat(scores, names=["collection", "system", "run"]).reset_index(level=[0, 1, 2])
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(scores)} runs, {len(questions)} questions")
