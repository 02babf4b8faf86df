"""Index the names that passages carry."""

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.retrieval.entities import index_names

with logged(snakemake.log[0]) as job:
    ids = PassageStore.open(snakemake.input.passages).ids
    job.info(f"{index_names(snakemake.input.annotations, ids, snakemake.output[0])} names")
