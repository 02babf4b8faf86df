"""Set retrievers side by side."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

keys, params = ["collection", "retriever"], snakemake.params

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(snakemake.input)
    table = summaries.summarise_rankings(scores, keys, params.measures, params.no_relevant, params.bootstrap)
    headings = summaries.ranking_headings(keys, params.measures)
    counts, made = summaries.counts(table), dict(models=params.models, bootstrap=params.bootstrap)
    write_report(snakemake.output, table, headings, params.digits, "Retrieval", counts, **made)
