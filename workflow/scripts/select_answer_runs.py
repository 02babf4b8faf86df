"""File answers with confidence from the traces of all passes."""

from pathlib import Path

import msgspec

from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import write_jsonl
from calibrag.retrieval.runs import read_rankings
from calibrag.runs.answer_runs import file_answers
from calibrag.runs.choices import RuleSettings
from calibrag.runs.same_answers import read_same_answers

with logged(snakemake.log[0]) as job:
    traces = read_traces(snakemake.input.traces)
    rankings = {Path(run).stem: read_rankings(run) for run in snakemake.input.passage_runs}
    settings = msgspec.convert(snakemake.params.rules, RuleSettings)
    filed = file_answers(traces, rankings, settings, read_same_answers(snakemake.input.same))
    write_jsonl(snakemake.output[0], filed.entries)
    for note in filed.notes:
        job.info(note)
    job.info(f"{len(traces)} questions")
