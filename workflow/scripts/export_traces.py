"""Write what a system did in a format that another tool reads."""

from itertools import islice
from pathlib import Path

from calibrag.corpus.store import PassageStore
from calibrag.evaluation.label_files import read_labels
from calibrag.execution.traces import read_prompts, read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.reporting.exporters import EXPORTERS, Material
from calibrag.retrieval.runs import read_rankings
from calibrag.runs.answer_runs import read_answer_runs

files, folder = snakemake.input, Path(snakemake.output[0])

with logged(snakemake.log[0]) as job:
    folder.mkdir(parents=True, exist_ok=True)
    questions = list(islice(read_jsonl(files.questions, Question), snakemake.params.asked))
    runs = {Path(run).stem: read_rankings(run) for run in files.passage_runs}, PassageStore.open(files.passages)
    done = read_traces(files.traces), read_answer_runs(files.runs), *runs
    known = read_labels(files.labels).right, read_prompts(files.traces)
    EXPORTERS[snakemake.wildcards.format](Material(questions, *done, *known, snakemake.params.team), folder)
    job.info(f"{len(questions)} questions as {snakemake.wildcards.format}")
