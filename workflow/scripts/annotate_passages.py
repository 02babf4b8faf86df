"""Annotate the names that the passages of a shard spell out."""

from calibrag.corpus.annotation import annotate
from calibrag.corpus.store import read_passages, shard_rows, write_annotations
from calibrag.job import logged
from calibrag.models.tagger import SpacyTagger

settings = snakemake.params.tagger
shard = snakemake.wildcards.shard

with logged(snakemake.log[0]) as job:
    tagger = SpacyTagger(settings["model"], settings["batch_size"])
    count = len(shard_rows(snakemake.input.passages, shard))
    passages = job.progress(read_passages(snakemake.input.passages, shard), "passages", count)
    annotations = annotate(passages, tagger, settings["skip_labels"], origin="passage")
    job.info(f"{write_annotations(snakemake.output[0], annotations)} names")
