"""Score held-out claims against their evidence."""

from itertools import chain

from calibrag.evaluation.held_out_claims import read_all
from calibrag.evaluation.verifier import open_verifiers, score_claims
from calibrag.job import logged
from calibrag.models.training_data import Pair
from calibrag.records import read_jsonl
from calibrag.retrieval.opening import open_embedder

params, threads = snakemake.params, snakemake.threads

with logged(snakemake.log[0]) as job:
    pairs = read_all(params.files)
    trained_on = chain.from_iterable(read_jsonl(path, Pair) for path in snakemake.input.trained_on)
    verifiers = open_verifiers(params.verifier, params.compared, params.device, threads)
    embedder = open_embedder(params.embedder, "passages", params.device, threads)
    table = score_claims(pairs, trained_on, verifiers, embedder.encode, params.verifier["chunk_words"])
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(pairs)} pairs, scorers: {', '.join(table['scorer'].unique())}")
