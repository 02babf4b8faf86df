"""Annotate the names that passages spell out."""

from tqdm import tqdm

from calibrag.corpus.annotation import annotate
from calibrag.corpus.store import read_passages, write_annotations
from calibrag.job import logged
from calibrag.models.tagger import SpacyTagger

tagger = snakemake.params.tagger

with logged(snakemake.log[0]) as log:
    passages = tqdm(read_passages(snakemake.input.passages), unit=" passages")
    names = annotate(passages, SpacyTagger(tagger["model"], tagger["batch_size"]), tagger["skip_labels"], "passage")
    log.info("%d names", write_annotations(snakemake.output[0], names))
