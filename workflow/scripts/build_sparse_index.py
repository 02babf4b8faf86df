"""Index the words of passages."""

from calibrag.corpus.store import names_by_passage, read_passages
from calibrag.job import logged
from calibrag.retrieval import sparse

with logged(snakemake.log[0]) as job:
    count = sparse.build(
        job.progress(read_passages(snakemake.input.passages), "passages"),
        names_by_passage(snakemake.input.annotations),
        snakemake.output[0],
        threads=snakemake.threads,
        **snakemake.params.index,
    )
    job.info(f"{count} passages")
