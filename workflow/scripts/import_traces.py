"""Read a pass over the questions of a log."""

from calibrag.execution.imported.reading import read_log, traces_of_pass
from calibrag.job import logged
from calibrag.records import write_jsonl

names, settings = snakemake.wildcards, snakemake.params.source

with logged(snakemake.log[0]) as job:
    log = read_log(settings["format"], snakemake.input.log, names.collection, settings["passes"])
    count = write_jsonl(snakemake.output[0], traces_of_pass(log, int(names.n)))
    job.info(f"{count} of {len(log)} questions have pass {names.n}")
