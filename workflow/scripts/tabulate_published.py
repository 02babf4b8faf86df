"""Set retrievers beside published results."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = summaries.read_rows(snakemake.input)
    made = dict(models=params.models, bootstrap=params.bootstrap)
    headings = summaries.published_headings()
    write_report(snakemake.output, table, headings, params.digits, "Beside published results", {}, **made)
