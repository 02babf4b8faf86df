"""Draw accuracy against HMR."""

from calibrag.job import logged
from calibrag.reporting.figures.accuracy_hmr import draw_accuracy_hmr
from calibrag.reporting.summaries import read_rows

output = snakemake.output

with logged(snakemake.log[0]) as job:
    title = f"Accuracy and HMR of answer runs, {snakemake.wildcards.experiment}"
    draw_accuracy_hmr(read_rows(snakemake.input), snakemake.params.arrows, output.svg, output.png, title)
