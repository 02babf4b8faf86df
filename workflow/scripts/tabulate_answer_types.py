"""Compare two answer runs of each system by type of question."""

from calibrag.job import logged
from calibrag.reporting import answer_tables, summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(snakemake.input)
    settings = (params.missing, params.bootstrap, params.significance)
    table = answer_tables.compare_types(scores, params.compared, *settings)
    subject = "Two answer runs by type of question"
    made = dict(bootstrap=params.bootstrap, notes=summaries.describe_lacking(scores, table))
    write_report(snakemake.output, table, answer_tables.TYPES, params.digits, subject, {}, **made)
