"""Let the reader answer from what a pass read, and from the gold passages."""

from calibrag.corpus.store import PassageStore
from calibrag.evaluation.trec import read_qrels
from calibrag.execution.opening import open_reader
from calibrag.execution.reader_study import gold_context, predictions, read_context
from calibrag.job import logged
from calibrag.records import Question, Trace, read_jsonl

files = snakemake.input

with logged(snakemake.log[0]) as job:
    store, qrels = PassageStore.open(files.passages), read_qrels(files.qrels)
    questions = list(read_jsonl(files.questions, Question))
    reader = open_reader(snakemake.params.models, files.reader, snakemake.threads)
    contexts = {
        "read": {trace.qid: read_context(trace, store) for trace in read_jsonl(files.traces, Trace)},
        "gold": {qid: gold_context(grades, store) for qid, grades in qrels.items()},
    }
    for name, context in contexts.items():
        asked = job.progress(questions, f"questions, {name} passages", len(questions))
        predictions(asked, context, reader).to_json(snakemake.output[name], orient="records", lines=True)
