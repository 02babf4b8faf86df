"""Say what went before each answer of a run, right or wrong."""

from itertools import islice

from calibrag.evaluation.csv_files import write_frame
from calibrag.evaluation.error_analysis import analyse_errors
from calibrag.evaluation.label_files import read_labels
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels
from calibrag.trace import RunEntry

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    entries = [entry for entry in read_jsonl(files.answers, RunEntry) if entry.run == params.run]
    qrels = {qid: grades for path in files.qrels for qid, grades in read_qrels(path).items()}
    rows = analyse_errors(entries, questions, read_traces(files.traces), qrels, read_labels(files.labels).right)
    rows.insert(0, "collection", names.collection)
    rows.insert(1, "system", names.system)
    write_frame(snakemake.output[0], rows)
    job.info(f"{len(questions)} questions, of which the run {params.run} has {len(entries)}")
