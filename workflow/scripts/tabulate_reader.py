"""Set the reader beside cheap choices, and beside itself on the gold passages."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = summaries.read_rows(snakemake.input)
    made = dict(models=params.models, bootstrap=params.bootstrap)
    write_report(snakemake.output, table, summaries.READER, params.digits, "The reader", {}, **made)
