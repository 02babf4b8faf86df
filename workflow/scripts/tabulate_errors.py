"""Count what went before the answers of each system, right or wrong."""

from calibrag.job import logged
from calibrag.reporting import study
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = study.summarise_errors(map(study.read_errors, snakemake.input))
    notes = study.describe_errors(params.run)
    counts = study.asked_of(table)
    write_report(snakemake.output, table, study.ERRORS, params.digits, "What went before answers", counts, notes=notes)
