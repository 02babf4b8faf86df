"""Embed passages."""

from calibrag.corpus.store import PassageStore, names_by_passage, read_passages
from calibrag.job import logged
from calibrag.retrieval.dense import embed_passages
from calibrag.retrieval.opening import open_embedder

with logged(snakemake.log[0]) as job:
    count = len(PassageStore.open(snakemake.input.passages))
    embedder = open_embedder(snakemake.params.embedder, "passages", snakemake.params.device, snakemake.threads)
    embed_passages(
        passages=job.progress(read_passages(snakemake.input.passages), "passages", count),
        count=count,
        names=names_by_passage(snakemake.input.annotations),
        embedder=embedder,
        max_names=snakemake.params.index["names"],
        path=snakemake.output[0],
    )
    job.info(f"{count} passages")
