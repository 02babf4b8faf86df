"""Fit confidence on permuted labels, to see that nothing is found."""

from functools import partial

from calibrag.confidence.extraction import read_signals
from calibrag.confidence.fitted_control import permute_labels
from calibrag.job import logged

names = snakemake.wildcards

with logged(snakemake.log[0]) as job:
    fitted = snakemake.params.fitted
    watched = partial(job.progress, unit="fits", total=fitted["permutations"] + 1)
    table = permute_labels(read_signals(snakemake.input[0]), fitted, watched)
    table.insert(0, "collection", names.collection)
    table.insert(1, "system", names.system)
    table.to_csv(snakemake.output[0], index=False)
