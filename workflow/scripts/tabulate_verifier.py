"""Set the verifier on held-out claims beside other scorers."""

import pandas as pd

from calibrag.evaluation.verifier import summarise_verifiers
from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    scores = pd.read_csv(snakemake.input[0], dtype={"data": str, "group": str})
    table = summarise_verifiers(scores, params.threshold, **params.bootstrap)
    made = dict(models=params.models, notes=[summaries.describe_verifiers(params.threshold, params.bootstrap)])
    headings, subject = summaries.verifier_headings(table), "The verifier on held-out claims"
    write_report(snakemake.output, table, headings, params.digits, subject, {}, **made)
