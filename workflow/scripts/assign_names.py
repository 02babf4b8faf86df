"""Assign names of their document to the passages of a shard."""

from calibrag.corpus.naming.document_level import open_assigner
from calibrag.corpus.store import read_annotations, read_passages, shard_rows, write_annotations
from calibrag.job import logged

shard = snakemake.wildcards.shard

with logged(snakemake.log[0]) as job:
    assign = open_assigner(snakemake.params.names, snakemake.params.chat, job.info)
    count = len(shard_rows(snakemake.input.passages, shard))
    passages = job.progress(read_passages(snakemake.input.passages, shard), "passages", count)
    annotations = assign(passages, read_annotations(snakemake.input.names))
    job.info(f"{write_annotations(snakemake.output[0], annotations)} names")
