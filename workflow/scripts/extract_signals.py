"""Take the signals of a run's answers from the record of their passes."""

from itertools import islice

from calibrag.confidence.extraction import extract_signals
from calibrag.evaluation.csv_files import write_frame
from calibrag.evaluation.label_files import read_labels
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.runs.answer_runs import read_answer_runs
from calibrag.runs.names import JUDGE
from calibrag.trace import RunEntry

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    entries = [entry for entry in read_jsonl(files.answers, RunEntry) if entry.run == params.run]
    again = read_answer_runs(files.again).get(JUDGE, [])
    table = extract_signals(entries, questions, read_traces(files.traces), read_labels(files.labels).right, again)
    write_frame(snakemake.output[0], table)
    job.info(f"{len(questions)} questions, of which the run {params.run} answers {len(table)}")
