"""Measure how well each signal of a run's answers tells right from wrong."""

from calibrag.confidence.discrimination import score_signals
from calibrag.confidence.extraction import read_signals
from calibrag.job import logged

bootstrap, names = snakemake.params.bootstrap, snakemake.wildcards

with logged(snakemake.log[0]) as job:
    signals = read_signals(snakemake.input[0])
    scores = score_signals(signals, bootstrap["resamples"], bootstrap["level"], bootstrap["seed"])
    scores.insert(0, "collection", names.collection)
    scores.insert(1, "system", names.system)
    scores.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(scores)} signals of {len(signals)} answers")
