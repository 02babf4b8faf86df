"""Set names side by side by collection and origin: how many, and how many are right."""

from calibrag.job import logged
from calibrag.reporting import names
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = names.summarise_names(snakemake.input.counts, snakemake.input.accuracy)
    made = dict(models=params.models, notes=names.NOTES)
    write_report(snakemake.output, table, names.HEADINGS, params.digits, "Names by origin", {}, **made)
