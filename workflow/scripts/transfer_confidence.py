"""Fit confidence on each collection and file it for the answers of each other one."""

from calibrag.confidence.transfer import transfer_systems
from calibrag.job import logged
from calibrag.reporting import confidence_study
from calibrag.reporting.tables import write_report

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    names = (params.collections, params.systems)
    table = transfer_systems(files.signals, files.fitted, *names, params.fitted, params.bootstrap)
    notes = [confidence_study.describe_transfer(), confidence_study.describe_fitting(params.fitted)]
    made = dict(bootstrap=params.bootstrap, notes=notes)
    counts, subject = confidence_study.answered(table, "tested_on"), "Confidence fitted on another collection"
    write_report(snakemake.output, table, confidence_study.TRANSFER, params.digits, subject, counts, **made)
