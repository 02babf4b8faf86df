"""Report how often searches matched the graph, and what of it was filed."""

from pathlib import Path

from calibrag.evaluation.graph_matches import graph_report
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.retrieval.runs import read_run

with logged(snakemake.log[0]) as job:
    runs = {Path(run).stem: read_run(run) for run in snakemake.input.runs}
    report = graph_report(read_traces(snakemake.input.traces), runs)
    report.insert(0, "collection", snakemake.wildcards.collection)
    report.insert(1, "system", snakemake.wildcards.system)
    report.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(report)} runs")
