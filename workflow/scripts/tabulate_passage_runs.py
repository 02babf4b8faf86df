"""Set passage runs side by side."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import caption, describe_intervals, write_table

keys = ["collection", "system", "run"]
evaluation = snakemake.params.evaluation
bootstrap = evaluation["bootstrap"]

with logged(snakemake.log[0]) as job:
    table = summaries.summarise_rankings(summaries.read_rows(snakemake.input), keys, evaluation)
    headings = summaries.ranking_headings(keys, evaluation["measures"])
    intervals = describe_intervals(bootstrap["level"], bootstrap["resamples"])
    models = snakemake.params.models
    text = caption("Passage runs", summaries.counts(table), {"bootstrap": bootstrap["seed"]}, models, intervals, [])
    digits = snakemake.params.digits
    write_table(table, snakemake.output.csv, snakemake.output.md, headings, text, digits, digits)
