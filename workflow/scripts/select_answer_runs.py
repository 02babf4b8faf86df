"""File answers with confidence from the traces of all passes."""

from pathlib import Path

from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import write_jsonl
from calibrag.retrieval.runs import read_rankings
from calibrag.runs.answer_runs import ANSWER_RUNS

with logged(snakemake.log[0]) as job:
    traces = read_traces(snakemake.input.traces)
    filed = {Path(run).stem: read_rankings(run) for run in snakemake.input.passage_runs}
    for output in map(Path, snakemake.output):
        rule = ANSWER_RUNS[output.stem]
        passages = filed[rule.passage_run]
        entries = (rule.choose(passes, passages.get(qid, ())) for qid, passes in traces.items())
        write_jsonl(output, filter(None, entries))
    job.info(f"{len(traces)} questions")
