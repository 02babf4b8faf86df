"""Compare each pair of passage runs of a collection."""

from calibrag.job import logged
from calibrag.reporting import passage_tables, summaries
from calibrag.reporting.tables import write_report

params = snakemake.params
reference, tests = params.compared["reference"], params.significance

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(snakemake.input)
    settings = (params.measures, reference, params.no_relevant, params.bootstrap, tests)
    table = passage_tables.compare_passages(scores, *settings)
    shown = passage_tables.comparable(table, scores, reference)
    notes = [summaries.describe_tests(tests), summaries.describe_shown(table, shown, reference)]
    made = dict(bootstrap=params.bootstrap, notes=notes, shown=shown)
    write_report(snakemake.output, table, summaries.SIGNIFICANCE, params.digits, "Pairs of passage runs", {}, **made)
