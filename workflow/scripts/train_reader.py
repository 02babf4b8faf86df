"""Train the adapter of the reader."""

from pathlib import Path

from calibrag.job import logged
from calibrag.models.reader_training import train_reader

with logged(snakemake.log[0]) as job:
    train_reader(
        data=snakemake.input.examples,
        held_out=snakemake.input.held_out,
        base=snakemake.params.base,
        output=Path(snakemake.output[0]).parent,
        threads=snakemake.threads,
        report=job.info,
        **snakemake.params.training,
    )
