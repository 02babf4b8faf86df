"""Draw the AUROCs of signals."""

from calibrag.job import logged
from calibrag.reporting.figures.signals import draw_signal_auroc
from calibrag.reporting.summaries import read_rows

output = snakemake.output

with logged(snakemake.log[0]) as job:
    title = f"Signals of right answers, {snakemake.wildcards.experiment}"
    draw_signal_auroc(read_rows(snakemake.input), output.svg, output.png, title)
