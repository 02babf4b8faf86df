"""Set the signals side by side by how well they tell right answers from wrong ones."""

from calibrag.job import logged
from calibrag.reporting import study
from calibrag.reporting.summaries import read_rows
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = read_rows(snakemake.input)
    made = dict(bootstrap=params.bootstrap, notes=study.describe_signals(params.run))
    counts = study.answers_of(table)
    write_report(snakemake.output, table, study.SIGNALS, params.digits, "Signals of right answers", counts, **made)
