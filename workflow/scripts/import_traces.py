"""Write the n-th passes of a log from elsewhere as traces."""

from calibrag.execution.imported.reading import open_log, pass_of
from calibrag.execution.traces import write_traces
from calibrag.job import logged

params, names = snakemake.params, snakemake.wildcards

with logged(snakemake.log[0]) as job:
    lines = open_log(params.format, snakemake.input[0], names.collection, params.passes)
    traces = pass_of(lines, int(names.n))
    write_traces(snakemake.output.traces, snakemake.output.prompts, traces, [])
    job.info(f"{len(traces)} of {len(lines)} questions have this pass")
