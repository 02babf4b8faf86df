"""Unite the names of both origins and of all shards."""

from itertools import chain

from calibrag.corpus.naming.documents import unite
from calibrag.corpus.store import read_annotations, read_passage_ids, write_annotations
from calibrag.job import logged

with logged(snakemake.log[0]) as job:
    levels = [
        chain.from_iterable(map(read_annotations, files))
        for files in (snakemake.input.passage_level, snakemake.input.document_level)
    ]
    annotations = unite(read_passage_ids(snakemake.input.passages), *levels)
    job.info(f"{write_annotations(snakemake.output[0], annotations)} names")
