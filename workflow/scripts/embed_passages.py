"""Embed the passages of a shard."""

from calibrag.corpus.store import shard_rows
from calibrag.job import logged
from calibrag.provenance import fingerprint_of_job
from calibrag.retrieval.named import read_named_passages
from calibrag.retrieval.opening import open_embedder
from calibrag.retrieval.vectors import embed_passages

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    shard = snakemake.wildcards.shard
    count = len(shard_rows(files.passages, shard))
    passages = job.progress(read_named_passages(files.passages, files.annotations, shard), "passages", count)
    embedder = open_embedder(params.embedder, "passages", params.device, snakemake.threads)
    key = fingerprint_of_job(files, params)
    done = embed_passages(passages, count, embedder, **params.vectors, path=snakemake.output[0], key=key)
    job.info(f"{count} passages, {done} of them by a killed job before")
