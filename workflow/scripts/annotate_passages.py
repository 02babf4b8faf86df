"""Annotate the names that passages spell out."""

from calibrag.corpus.annotation import annotate
from calibrag.corpus.store import PassageStore, read_passages, write_annotations
from calibrag.job import logged
from calibrag.models.tagger import SpacyTagger

settings = snakemake.params.tagger

with logged(snakemake.log[0]) as job:
    tagger = SpacyTagger(settings["model"], settings["batch_size"])
    count = len(PassageStore.open(snakemake.input.passages))
    passages = job.progress(read_passages(snakemake.input.passages), "passages", count)
    annotations = annotate(passages, tagger, settings["skip_labels"], origin="passage")
    job.info(f"{write_annotations(snakemake.output[0], annotations)} names")
