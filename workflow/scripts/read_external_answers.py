"""Read the answer runs of others."""

from calibrag.job import logged
from calibrag.records import Question, read_jsonl, write_jsonl
from calibrag.runs.external import read_external_answers

with logged(snakemake.log[0]) as job:
    qids = {question.qid for question in read_jsonl(snakemake.input.questions, Question)}
    entries = read_external_answers(snakemake.input.files, qids)
    job.info(f"{write_jsonl(snakemake.output[0], entries)} answers of {len({entry.run for entry in entries})} runs")
