"""Count what each collection holds."""

import pandas as pd

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import write_report

names = ["documents", "questions", "passages", "annotations", "qrels", "unmatched"]
params = snakemake.params

with logged(snakemake.log[0]) as job:
    files = zip(params.collections, *(snakemake.input[name] for name in names), strict=True)
    table = pd.DataFrame([summaries.describe_collection(*row) for row in files])
    about = [params.about[name] for name in table["collection"]]
    table = table.assign(**{key: [item[key] for item in about] for key in ("description", "licence")})
    write_report(snakemake.output, table, summaries.COLLECTIONS, params.digits, "The collections", {})
