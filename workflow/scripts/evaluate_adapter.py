"""Measure the cross-encoder of an adapter on held-out pairs."""

from calibrag.job import logged
from calibrag.models.adapter_evaluation import EVALUATIONS
from calibrag.models.cross_encoder import CrossEncoder
from calibrag.models.training_data import Pair
from calibrag.records import read_jsonl
from calibrag.retrieval.opening import open_embedder

settings = snakemake.params

with logged(snakemake.log[0]) as job:
    pairs = list(read_jsonl(snakemake.input.pairs, Pair))
    encoder = CrossEncoder(**settings.encoder, device=settings.device, threads=snakemake.threads)
    embedder = open_embedder(settings.embedder, "passages", settings.device, snakemake.threads)
    evaluate = EVALUATIONS[snakemake.wildcards.adapter]
    evaluate(pairs, encoder, embedder.encode).to_csv(snakemake.output[0], index=False)
    job.info(f"{len(pairs)} pairs")
