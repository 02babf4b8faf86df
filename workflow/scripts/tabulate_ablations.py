"""Set out what each system of an experiment gains and loses against the one that it starts from."""

from calibrag.evaluation.ablation import adjust
from calibrag.job import logged
from calibrag.reporting import ablation_table, summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = adjust(summaries.read_rows(snakemake.input))
    shown = ablation_table.shown(table, params.compared, params.measures)
    notes = ablation_table.describe(table, shown, params.significance)
    made = dict(bootstrap=params.bootstrap, notes=notes, shown=shown)
    write_report(snakemake.output, table, ablation_table.HEADINGS, params.digits, "Ablations", {}, **made)
    job.info(f"{len(table)} comparisons, {len(shown)} shown")
