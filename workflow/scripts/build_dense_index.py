"""Index the vectors of passages."""

from pathlib import Path

import numpy as np

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.retrieval import dense

with logged(snakemake.log[0]) as job:
    ids = PassageStore.open(snakemake.input.passages).ids
    vectors = np.load(snakemake.input.vectors, mmap_mode="r")
    job.info(f"{dense.build(vectors, ids, Path(snakemake.output[0]).parent)} vectors")
