"""Count which sources decided what answers are right, and where they disagree."""

import pandas as pd

from calibrag.job import logged
from calibrag.reporting import study
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = pd.concat(map(pd.read_csv, snakemake.input), ignore_index=True)
    notes = study.describe_labels(params.near)
    write_report(snakemake.output, table, study.LABELS, params.digits, "Who says what is right", {}, notes=notes)
    job.info(f"{len(table)} rows")
