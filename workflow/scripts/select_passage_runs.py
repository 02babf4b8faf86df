"""File ranked passages from the traces of all passes."""

from pathlib import Path

from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.retrieval.runs import write_run
from calibrag.runs.passage_runs import PASSAGE_RUNS
from calibrag.runs.same_answers import read_same_answers

with logged(snakemake.log[0]) as job:
    traces, same = read_traces(snakemake.input.traces), read_same_answers(snakemake.input.same)
    for output in map(Path, snakemake.output):
        select = PASSAGE_RUNS[output.stem]
        rankings = {qid: select(passes, snakemake.params.length, same) for qid, passes in traces.items()}
        write_run(output, rankings, output.stem)
    job.info(f"{len(traces)} questions")
