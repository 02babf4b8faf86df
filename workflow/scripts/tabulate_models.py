"""Set the adapters beside untrained baselines."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import caption, write_table

with logged(snakemake.log[0]) as job:
    table = summaries.summarise_models({"reranker": snakemake.input.reranker, "verifier": snakemake.input.verifier})
    text = caption("The adapters on held-out pairs", {}, {}, snakemake.params.models, None, [])
    digits = snakemake.params.digits
    write_table(table, snakemake.output.csv, snakemake.output.md, summaries.MODELS, text, digits, digits)
