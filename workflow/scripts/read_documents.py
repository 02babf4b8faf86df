"""Check the documents of a collection."""

from calibrag.collections.jsonl import check_documents
from calibrag.job import logged
from calibrag.records import Document, read_jsonl, write_jsonl

with logged(snakemake.log[0]) as job:
    check_documents(snakemake.input.documents)
    count = write_jsonl(snakemake.output[0], read_jsonl(snakemake.input.documents, Document))
    job.info(f"{count} documents")
