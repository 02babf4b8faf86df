"""Judge the answer runs of a system on each question."""

from itertools import islice
from pathlib import Path

import pandas as pd

from calibrag.evaluation.answer_runs import score_answer_run
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.runs.answer_runs import ANSWER_RUNS, faults
from calibrag.trace import RunEntry

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(snakemake.input.questions, Question), snakemake.params.asked))
    traces = read_traces(snakemake.input.traces)
    scores = {}
    for run in map(Path, snakemake.input.runs):
        key = (snakemake.wildcards.collection, snakemake.wildcards.system, run.stem)
        errors = faults(traces, ANSWER_RUNS[run.stem])
        scores[key] = score_answer_run(list(read_jsonl(run, RunEntry)), questions, errors)
    table = pd.concat(scores, names=["collection", "system", "run"]).reset_index(level=[0, 1, 2])
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(scores)} runs, {len(questions)} questions")
