"""Judge the answer runs of a system on each question."""

from itertools import islice

from calibrag.evaluation.answer_runs import score_answer_runs
from calibrag.evaluation.csv_files import write_frame
from calibrag.evaluation.label_files import read_labels
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels
from calibrag.runs.answer_runs import faults, read_answer_runs

files, names, params = snakemake.input, snakemake.wildcards, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    traces, runs = read_traces(files.traces), read_answer_runs(files.runs)
    judgements = read_labels(files.labels), *map(read_qrels, files.qrels)
    errors = {run: faults(traces, run, params.baselines_of) for run in runs}
    table = score_answer_runs(runs, questions, errors, *judgements)
    table.insert(0, "collection", names.collection)
    table.insert(1, "system", names.system)
    write_frame(snakemake.output[0], table)
    job.info(f"{len(runs)} runs, {len(questions)} questions")
