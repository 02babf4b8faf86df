"""Train the adapter of a cross-encoder."""

from pathlib import Path

from calibrag.job import logged
from calibrag.models.adapter_training import train_adapter

with logged(snakemake.log[0]) as job:
    train_adapter(
        data=snakemake.input.pairs,
        base=snakemake.params.base,
        output=Path(snakemake.output[0]).parent,
        threads=snakemake.threads,
        report=job.info,
        **snakemake.params.training,
    )
