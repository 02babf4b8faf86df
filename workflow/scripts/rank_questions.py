"""Rank passages for questions with one retriever."""

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.opening import IndexFiles, open_retriever
from calibrag.retrieval.pipeline import search
from calibrag.retrieval.runs import write_run

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    store = PassageStore.open(files.passages)
    retriever = open_retriever(params.retriever, IndexFiles.of(files), store, params.models, snakemake.threads)
    questions = list(read_jsonl(files.questions, Question))
    rankings = search(retriever, [(question.qid, question.text, ()) for question in questions])
    write_run(snakemake.output[0], rankings, snakemake.wildcards.retriever)
    job.info(f"{len(questions)} questions")
