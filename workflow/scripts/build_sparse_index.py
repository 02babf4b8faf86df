"""Index the words of passages."""

from calibrag.job import logged
from calibrag.retrieval import sparse
from calibrag.retrieval.named import read_named_passages

files = snakemake.input

with logged(snakemake.log[0]) as job:
    named = job.progress(read_named_passages(files.passages, files.annotations), "passages")
    count = sparse.build(named, snakemake.output[0], threads=snakemake.threads, **snakemake.params.index)
    job.info(f"{count} passages")
