"""Let the reader answer from what a pass read, and from the gold passages."""

from calibrag.corpus.store import PassageStore
from calibrag.execution.opening import open_reader
from calibrag.execution.reader_study import gold_context, read_alone, read_in_pass
from calibrag.job import logged
from calibrag.records import Question, Trace, read_jsonl
from calibrag.retrieval.runs import read_qrels

files, made = snakemake.input, snakemake.output

with logged(snakemake.log[0]) as job:
    store, qrels = PassageStore.open(files.passages), read_qrels(files.qrels)
    questions = list(read_jsonl(files.questions, Question))
    reader = open_reader(snakemake.params.models, files.reader, snakemake.threads)
    contexts = {qid: gold_context(grades, store) for qid, grades in qrels.items()}
    asked = job.progress(questions, "questions", len(questions))
    read_alone(asked, contexts, reader).to_json(made.gold, orient="records", lines=True)
    read_in_pass(read_jsonl(files.traces, Trace)).to_json(made.read, orient="records", lines=True)
