"""Index the vectors of passages."""

from pathlib import Path

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.retrieval import dense
from calibrag.retrieval.vectors import Vectors

with logged(snakemake.log[0]) as job:
    ids = PassageStore.open(snakemake.input.passages).ids
    folder = Path(snakemake.output[0]).parent
    vectors = Vectors.open(snakemake.input.vectors)
    count = dense.build(vectors, ids, folder, snakemake.params.index, threads=snakemake.threads)
    job.info(f"{count} vectors")
