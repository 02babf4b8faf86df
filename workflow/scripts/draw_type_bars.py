"""Draw the differences between two runs by type of question."""

from calibrag.job import logged
from calibrag.reporting.figures.types import differences_by_type, draw_type_bars
from calibrag.reporting.summaries import read_rows

output = snakemake.output

with logged(snakemake.log[0]) as job:
    tables = [read_rows([path]) for path in snakemake.input]
    bars = differences_by_type(tables, snakemake.params.measures)
    title = f"Two runs by type of question, {snakemake.wildcards.experiment}"
    draw_type_bars(bars, output.svg, output.png, title)
