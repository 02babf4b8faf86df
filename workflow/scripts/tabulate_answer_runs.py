"""Set answer runs side by side."""

from calibrag.job import logged
from calibrag.reporting import answer_tables, summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(snakemake.input)
    table = answer_tables.summarise_answers(scores, params.measures, params.missing, params.bootstrap)
    headings = answer_tables.run_headings(table, params.measures)
    notes = answer_tables.describe_runs(table, params.measures)
    counts, made = summaries.counts(table), dict(models=params.models, bootstrap=params.bootstrap, notes=notes)
    write_report(snakemake.output, table, headings, params.digits, "Answer runs", counts, **made)
