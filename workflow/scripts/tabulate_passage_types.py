"""Compare two passage runs of each system by type of question."""

from calibrag.job import logged
from calibrag.reporting import passage_tables, summaries
from calibrag.reporting.tables import write_report

params, files = snakemake.params, snakemake.input

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(files.passages)
    types = passage_tables.read_types(dict(zip(params.collections, files.questions, strict=True)))
    settings = (params.measures, params.compared, params.no_relevant, params.bootstrap)
    table = passage_tables.compare_types(scores, types, *settings)
    subject = "Two passage runs by type of question"
    made = dict(bootstrap=params.bootstrap, notes=summaries.describe_lacking(scores, table))
    write_report(snakemake.output, table, passage_tables.TYPES, params.digits, subject, {}, **made)
