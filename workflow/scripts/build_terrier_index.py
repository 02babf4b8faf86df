"""Index the words of passages by Terrier."""

from calibrag.corpus.store import read_annotations, read_passages
from calibrag.job import logged
from calibrag.retrieval import terrier
from calibrag.retrieval.named import with_names

files = snakemake.input

with logged(snakemake.log[0]) as job:
    passages = job.progress(read_passages(files.passages), "passages")
    named = with_names(passages, read_annotations(files.annotations), files.annotations)
    count = terrier.build(named, snakemake.output[0])
    job.info(f"{count} passages")
