"""Check the questions of a collection and draw the sample that is evaluated."""

from calibrag.collections.reading import read_questions, removal
from calibrag.job import logged
from calibrag.records import write_jsonl

with logged(snakemake.log[0]) as job:
    removed = removal(snakemake.input.questions, snakemake.params.unsupported)
    questions = read_questions(
        snakemake.params.format,
        snakemake.input.questions,
        documents=snakemake.input.documents,
        answered=snakemake.params.answered,
        split=snakemake.params.split,
        limit=snakemake.params.sample["size"],
        seed=snakemake.params.sample["seed"],
        removed=removed,
    )
    job.info(f"{write_jsonl(snakemake.output[0], questions)} questions; {removed}")
