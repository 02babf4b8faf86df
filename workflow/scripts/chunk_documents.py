"""Cut documents into passages."""

from calibrag.corpus.chunking import chunk_all
from calibrag.corpus.store import write_passages
from calibrag.job import logged
from calibrag.records import Document, read_jsonl

with logged(snakemake.log[0]) as job:
    documents = job.progress(read_jsonl(snakemake.input.documents, Document), "documents")
    passages = chunk_all(documents, **snakemake.params.chunking, workers=snakemake.threads)
    job.info(f"{write_passages(snakemake.output.passages, passages, snakemake.output.arrow)} passages")
