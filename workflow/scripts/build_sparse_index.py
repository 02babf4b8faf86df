"""Index the words of passages."""

from tqdm import tqdm

from calibrag.corpus.store import names_by_passage, read_passages
from calibrag.job import logged
from calibrag.retrieval import sparse

with logged(snakemake.log[0]) as log:
    count = sparse.build(
        tqdm(read_passages(snakemake.input.passages), unit=" passages"),
        names_by_passage(snakemake.input.annotations),
        snakemake.output[0],
        threads=snakemake.threads,
        **snakemake.params.index,
    )
    log.info("%d passages", count)
