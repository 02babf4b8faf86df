"""Set side by side what passes and runs cost."""

from calibrag.job import logged
from calibrag.reporting import study
from calibrag.reporting.tables import write_report

with logged(snakemake.log[0]) as job:
    table = study.read_costs(snakemake.input)
    digits, notes, counts = snakemake.params.digits, study.describe_cost(), study.asked_of(table, study.PASSES)
    write_report(snakemake.output, table, study.COST, digits, "Cost of a question, by pass", counts, notes=notes)
