"""Set the reader beside cheap choices, and beside itself on the gold passages."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import caption, describe_intervals, write_table

bootstrap = snakemake.params.bootstrap

with logged(snakemake.log[0]) as job:
    table = summaries.read_rows(snakemake.input)
    intervals = describe_intervals(bootstrap["level"], bootstrap["resamples"])
    text = caption("The reader", {}, {"bootstrap": bootstrap["seed"]}, snakemake.params.models, intervals, [])
    digits = snakemake.params.digits
    write_table(table, snakemake.output.csv, snakemake.output.md, summaries.READER, text, digits, digits)
