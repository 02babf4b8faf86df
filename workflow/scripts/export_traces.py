"""Write what a system did in a format that another tool reads."""

from itertools import islice
from pathlib import Path

from calibrag.evaluation.label_files import read_labels
from calibrag.execution.traces import read_prompts, read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.reporting.exporters import EXPORTERS, Material
from calibrag.runs.answer_runs import read_answer_runs

folder = Path(snakemake.output[0])

with logged(snakemake.log[0]) as job:
    folder.mkdir(parents=True, exist_ok=True)
    material = Material(
        questions=list(islice(read_jsonl(snakemake.input.questions, Question), snakemake.params.asked)),
        traces=read_traces(snakemake.input.traces),
        runs=read_answer_runs([snakemake.input.runs]),
        right=read_labels(snakemake.input.labels).right,
        prompts=read_prompts(snakemake.input.traces),
    )
    EXPORTERS[snakemake.wildcards.format](material, folder)
    job.info(f"{len(material.traces)} questions as {snakemake.wildcards.format}")
