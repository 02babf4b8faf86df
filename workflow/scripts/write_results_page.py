"""Write the page with the results of an experiment."""

from calibrag import provenance
from calibrag.job import logged
from calibrag.reporting.results_page import Reading, write_results_page

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    reading = Reading(params.measures[0], params.studied, params.digits)
    facts = dict(params.facts, release=[provenance.release()])
    parts = (files.tables, files.figures, files.pages, facts, reading)
    size = write_results_page(snakemake.output[0], snakemake.wildcards.experiment, *parts)
    job.info(f"{len(files.tables)} tables, {len(files.figures)} figures, {size:,} bytes")
