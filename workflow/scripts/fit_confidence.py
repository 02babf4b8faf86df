"""Fit confidence on the signals of a run's answers, held out by question."""

from calibrag.confidence.extraction import read_signals
from calibrag.confidence.fitted_runs import describe_fit, fit_confidence
from calibrag.job import logged
from calibrag.records import read_jsonl, write_jsonl
from calibrag.trace import RunEntry

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    entries = [entry for entry in read_jsonl(files.answers, RunEntry) if entry.run == params.run]
    filed, fit = fit_confidence(entries, read_signals(files.signals), params.fitted)
    write_jsonl(snakemake.output.runs, filed)
    for table in ("folds", "fits", "weights"):
        getattr(fit, table).to_csv(snakemake.output[table], index=False)
    job.info(describe_fit(fit))
