"""Let the reader answer from what a pass read, and from the gold passages."""

from itertools import islice

from calibrag.corpus.store import PassageStore
from calibrag.execution.opening import open_reader
from calibrag.execution.reader_study import gold_context, read_alone, read_in_pass
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_qrels

files, made = snakemake.input, snakemake.output

with logged(snakemake.log[0]) as job:
    store, qrels = PassageStore.open(files.passages), read_qrels(files.qrels)
    questions = list(islice(read_jsonl(files.questions, Question), snakemake.params.asked))
    reader = open_reader(snakemake.params.models, files.reader, snakemake.threads)
    contexts = {qid: gold_context(grades, store) for qid, grades in qrels.items()}
    asked = job.progress(questions, "questions", len(questions))
    read_alone(asked, contexts, reader).to_json(made.gold, orient="records", lines=True)
    first_passes = [trace for (trace,) in read_traces(files.traces).values()]
    read_in_pass(first_passes).to_json(made.read, orient="records", lines=True)
