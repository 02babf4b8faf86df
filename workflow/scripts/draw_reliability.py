"""Draw accuracy against confidence."""

from calibrag.job import logged
from calibrag.reporting.figures.calibration import draw_reliability
from calibrag.reporting.summaries import read_rows

output, params = snakemake.output, snakemake.params

with logged(snakemake.log[0]) as job:
    settings = (params.runs, params.bins, params.binning, params.missing)
    title = f"Reliability of confidence, {snakemake.wildcards.experiment}"
    draw_reliability(read_rows(snakemake.input), *settings, output.svg, output.png, title)
