"""Say how much of the gain of PG-2 over PG-1 is the length of its rankings."""

from calibrag.job import logged
from calibrag.reporting import study
from calibrag.reporting.summaries import read_rows
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    scores = read_rows(snakemake.input)
    table = study.summarise_lengths(scores, params.measures, params.no_relevant, params.bootstrap)
    made = dict(bootstrap=params.bootstrap, notes=study.describe_lengths())
    counts = study.answers_of(table)
    write_report(snakemake.output, table, study.LENGTH, params.digits, "Length of rankings", counts, **made)
