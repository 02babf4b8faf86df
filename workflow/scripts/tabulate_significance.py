"""Compare each pair of retrievers."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(snakemake.input)
    settings = (params.measures, params.no_relevant, params.bootstrap, params.significance)
    table = summaries.compare_rankings(scores, "retriever", *settings)
    made = dict(bootstrap=params.bootstrap, notes=[summaries.describe_tests(params.significance)])
    write_report(snakemake.output, table, summaries.SIGNIFICANCE, params.digits, "Pairs of retrievers", {}, **made)
