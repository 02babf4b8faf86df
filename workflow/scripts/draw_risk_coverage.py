"""Draw risk against coverage."""

from calibrag.job import logged
from calibrag.reporting.figures.calibration import draw_risk_coverage
from calibrag.reporting.summaries import read_rows

output, params = snakemake.output, snakemake.params

with logged(snakemake.log[0]) as job:
    title = f"Risk against coverage, {snakemake.wildcards.experiment}"
    draw_risk_coverage(read_rows(snakemake.input), params.runs, params.missing, output.svg, output.png, title)
