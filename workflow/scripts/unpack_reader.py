"""Unpack the reader's weights, its adapter merged into them."""

from calibrag.job import logged
from calibrag.models.language_scorer import unpack

reader = snakemake.params.reader

with logged(snakemake.log[0]) as job:
    unpack(reader["model"], reader["adapter"], reader["dtype"], snakemake.output[0])
    job.info(f"{reader['model']}, adapter {reader['adapter']}")
