"""Cut documents into passages."""

from calibrag.corpus.chunking import chunk
from calibrag.corpus.store import write_passages
from calibrag.job import logged
from calibrag.records import Document, read_jsonl

with logged(snakemake.log[0]) as job:
    documents = job.progress(read_jsonl(snakemake.input.documents, Document), "documents")
    passages = (passage for document in documents for passage in chunk(document, **snakemake.params.chunking))
    job.info(f"{write_passages(snakemake.output[0], passages)} passages")
