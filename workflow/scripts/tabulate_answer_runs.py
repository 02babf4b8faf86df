"""Set answer runs side by side."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import caption, describe_intervals, write_table

evaluation = snakemake.params.evaluation
bootstrap = evaluation["bootstrap"]

with logged(snakemake.log[0]) as job:
    table = summaries.summarise_answers(summaries.read_rows(snakemake.input), evaluation)
    intervals = describe_intervals(bootstrap["level"], bootstrap["resamples"])
    models = snakemake.params.models
    text = caption("Answer runs", summaries.counts(table), {"bootstrap": bootstrap["seed"]}, models, intervals, [])
    digits = snakemake.params.digits
    write_table(table, snakemake.output.csv, snakemake.output.md, summaries.ANSWERS, text, digits, digits)
