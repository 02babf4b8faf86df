"""Index the words of passages by Terrier."""

from calibrag.job import logged
from calibrag.retrieval import terrier
from calibrag.retrieval.named import read_named_passages

files = snakemake.input

with logged(snakemake.log[0]) as job:
    named = job.progress(read_named_passages(files.passages, files.annotations), "passages")
    count = terrier.build(named, snakemake.output[0])
    job.info(f"{count} passages")
