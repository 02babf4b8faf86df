"""Read the questions of a log, and what it says of its answers."""

from calibrag.execution.imported.reading import read_log, write_verdicts
from calibrag.job import logged
from calibrag.records import write_jsonl

settings = snakemake.params.source

with logged(snakemake.log[0]) as job:
    log = read_log(settings["format"], snakemake.input.log, snakemake.wildcards.collection, settings["passes"])
    write_verdicts(snakemake.output.labels, log)
    count = write_jsonl(snakemake.output.questions, (each.question for each in log))
    job.info(f"{count} questions, {sum(len(each.verdicts) for each in log)} labels of the log's own")
