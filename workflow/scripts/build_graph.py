"""Join the names that stand together in passages."""

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.retrieval import graph
from calibrag.retrieval.entities import NameIndex

with logged(snakemake.log[0]) as job:
    passages = len(PassageStore.open(snakemake.input.passages))
    names = NameIndex.open(snakemake.input.nodes, passages)
    job.info(f"{graph.build(names, snakemake.output[0], **snakemake.params.graph)} edges")
