"""Annotate the names that the passages of a shard spell out."""

from calibrag.corpus.naming.passage_level import open_annotator
from calibrag.corpus.store import read_passages, shard_rows, write_annotations
from calibrag.job import logged

shard = snakemake.wildcards.shard

with logged(snakemake.log[0]) as job:
    annotate = open_annotator(snakemake.params.names, snakemake.params.tagger, snakemake.params.chat, job.info)
    count = len(shard_rows(snakemake.input.passages, shard))
    passages = job.progress(read_passages(snakemake.input.passages, shard), "passages", count)
    job.info(f"{write_annotations(snakemake.output[0], annotate(passages))} names")
