"""Count what each collection holds."""

import pandas as pd

from calibrag.job import logged
from calibrag.reporting import summaries
from calibrag.reporting.tables import caption, write_table

names = ["documents", "questions", "passages", "annotations", "qrels", "unmatched"]

with logged(snakemake.log[0]) as job:
    files = zip(snakemake.params.collections, *(snakemake.input[name] for name in names), strict=True)
    table = pd.DataFrame([summaries.describe_collection(*row) for row in files])
    about = [snakemake.params.about[name] for name in table["collection"]]
    table = table.assign(**{key: [item[key] for item in about] for key in ("description", "licence")})
    text = caption("The collections", {}, {}, {}, None, [])
    digits = snakemake.params.digits
    write_table(table, snakemake.output.csv, snakemake.output.md, summaries.COLLECTIONS, text, digits, digits)
