"""Check the questions of a collection and draw the sample that is evaluated."""

from calibrag.collections.jsonl import read_collection
from calibrag.job import logged
from calibrag.records import write_jsonl

with logged(snakemake.log[0]) as job:
    _, questions = read_collection(
        documents=snakemake.input.documents,
        questions=snakemake.input.questions,
        answered=snakemake.params.answered,
        split=snakemake.params.split,
        limit=snakemake.params.sample["size"],
        seed=snakemake.params.sample["seed"],
    )
    job.info(f"{write_jsonl(snakemake.output[0], questions)} questions")
