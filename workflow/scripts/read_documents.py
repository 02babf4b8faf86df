"""Read the documents of a collection from their format, and check them."""

from calibrag.collections.reading import read_documents, removal
from calibrag.job import logged
from calibrag.records import write_jsonl

with logged(snakemake.log[0]) as job:
    removed = removal(snakemake.input.questions, snakemake.params.unsupported)
    documents = read_documents(snakemake.params.format, snakemake.input.documents, removed.documents)
    count = write_jsonl(snakemake.output[0], job.progress(documents, "documents"))
    job.info(f"{count} documents; {removed}")
