"""Judge the answer runs of a system on each question."""

from pathlib import Path

import pandas as pd

from calibrag.evaluation.answer_runs import score_answer_run
from calibrag.job import logged
from calibrag.records import Question, RunEntry, Trace, read_jsonl

with logged(snakemake.log[0]) as job:
    questions = list(read_jsonl(snakemake.input.questions, Question))
    traces = [trace for path in snakemake.input.traces for trace in read_jsonl(path, Trace)]
    errors = {trace.qid: trace.events[-1].problem for trace in traces if trace.status == "error"}
    scores = {
        (snakemake.wildcards.collection, snakemake.wildcards.system, Path(run).stem): score_answer_run(
            list(read_jsonl(run, RunEntry)), questions, errors
        )
        for run in snakemake.input.runs
    }
    table = pd.concat(scores, names=["collection", "system", "run"]).reset_index(level=[0, 1, 2])
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(scores)} runs, {len(questions)} questions")
