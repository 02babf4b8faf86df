"""Write the questions of a log from elsewhere, and what the log says of its own answers."""

from calibrag.execution.imported.reading import open_log, write_labels
from calibrag.job import logged
from calibrag.records import write_jsonl

params, made = snakemake.params, snakemake.output

with logged(snakemake.log[0]) as job:
    lines = open_log(params.format, snakemake.input[0], snakemake.wildcards.collection, params.passes)
    job.info(f"{write_jsonl(made.questions, (line.question for line in lines))} questions")
    write_labels(made.labels, lines)
