"""Set names side by side by collection and origin: how many, and how many are right."""

from calibrag.job import logged
from calibrag.reporting import names
from calibrag.reporting.tables import caption, write_table

with logged(snakemake.log[0]) as job:
    table = names.summarise_names(snakemake.input.counts, snakemake.input.accuracy)
    text = caption("Names by origin", {}, {}, snakemake.params.models, None, names.NOTES)
    digits = snakemake.params.digits
    write_table(table, snakemake.output.csv, snakemake.output.md, names.HEADINGS, text, digits, digits)
