"""Draw accuracy against HMR."""

import pandas as pd

from calibrag.job import logged
from calibrag.reporting.figures import accuracy_hmr

with logged(snakemake.log[0]) as job:
    table = pd.read_csv(snakemake.input[0], dtype={"collection": object, "system": object, "run": object})
    points = table.assign(group=table["collection"], label=table["system"] + " " + table["run"])
    title = f"Accuracy and HMR, {snakemake.wildcards.experiment}"
    accuracy_hmr(points, snakemake.output.svg, snakemake.output.png, title)
