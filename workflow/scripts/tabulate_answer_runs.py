"""Set answer runs side by side."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = summaries.summarise_answers(summaries.read_rows(snakemake.input), params.missing, params.bootstrap)
    counts, made = summaries.counts(table), dict(models=params.models, bootstrap=params.bootstrap)
    write_report(snakemake.output, table, summaries.ANSWERS, params.digits, "Answer runs", counts, **made)
