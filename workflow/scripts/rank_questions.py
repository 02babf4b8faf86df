"""Rank passages for questions with one retriever."""

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.opening import open_retriever
from calibrag.retrieval.pipeline import search
from calibrag.retrieval.runs import write_run

with logged(snakemake.log[0]) as job:
    retriever = open_retriever(
        settings=snakemake.params.retriever,
        folder=snakemake.params.folder,
        store=PassageStore.open(snakemake.input.passages),
        models=snakemake.params.models,
        threads=snakemake.threads,
    )
    questions = list(read_jsonl(snakemake.input.questions, Question))
    rankings = search(retriever, [(question.qid, question.text, ()) for question in questions])
    write_run(snakemake.output[0], rankings, snakemake.wildcards.retriever)
    job.info(f"{len(questions)} questions")
