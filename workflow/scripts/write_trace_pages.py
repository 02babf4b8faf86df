"""Write the pages on which the traces of a system can be read."""

from itertools import islice

from calibrag.corpus.store import PassageStore
from calibrag.evaluation.label_files import read_labels
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.reporting.trace_pages import write_trace_pages
from calibrag.retrieval.runs import read_qrels
from calibrag.runs.answer_runs import read_answer_runs

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    work = read_traces(files.traces), read_answer_runs([files.runs]), read_labels(files.labels).right
    evidence = PassageStore.open(files.passages), read_qrels(files.qrels)
    shown = dict(snakemake.wildcards.items(), verified_entailment=params.verified_entailment, digits=params.digits)
    size = write_trace_pages(snakemake.output[0], questions, *work, *evidence, **shown)
    job.info(f"{len(questions)} questions, {size:,} bytes")
