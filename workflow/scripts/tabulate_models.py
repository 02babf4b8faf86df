"""Set the adapters beside untrained baselines."""

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    table = summaries.summarise_models({"reranker": files.reranker, "verifier": files.verifier})
    subject = "The adapters on held-out pairs"
    write_report(snakemake.output, table, summaries.MODELS, params.digits, subject, {}, models=params.models)
