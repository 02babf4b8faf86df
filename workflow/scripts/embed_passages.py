"""Embed the passages of a shard."""

from itertools import islice

from calibrag.corpus.store import read_annotations, read_passages, shard_rows
from calibrag.job import logged
from calibrag.provenance import fingerprint_of_job
from calibrag.retrieval.named import with_names
from calibrag.retrieval.opening import open_embedder
from calibrag.retrieval.vectors import embed_passages

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    rows = shard_rows(files.passages, snakemake.wildcards.shard)
    named = with_names(read_passages(files.passages), read_annotations(files.annotations), files.annotations)
    passages = job.progress(islice(named, rows.start, rows.stop), "passages", len(rows))
    embedder = open_embedder(params.embedder, "passages", params.device, snakemake.threads)
    key = fingerprint_of_job(files, params)
    done = embed_passages(passages, len(rows), embedder, **params.vectors, path=snakemake.output[0], key=key)
    job.info(f"{len(rows)} passages, {done} of them by a killed job before")
