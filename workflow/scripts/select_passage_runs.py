"""File ranked passages from the traces of all passes."""

from pathlib import Path

from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.retrieval.runs import write_run
from calibrag.runs.passage_runs import PASSAGE_RUNS

with logged(snakemake.log[0]) as job:
    traces = read_traces(snakemake.input.traces)
    for output in map(Path, snakemake.output):
        select = PASSAGE_RUNS[output.stem]
        rankings = {qid: select(passes, snakemake.params.length) for qid, passes in traces.items()}
        write_run(output, rankings, output.stem)
    job.info(f"{len(traces)} questions")
