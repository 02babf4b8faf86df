"""Set confidence fitted on permuted labels beside that fitted on true ones."""

from calibrag.confidence.fitted_control import summarise_permutations
from calibrag.job import logged
from calibrag.reporting import confidence_study
from calibrag.reporting.summaries import read_rows
from calibrag.reporting.tables import write_report

params = snakemake.params

with logged(snakemake.log[0]) as job:
    table = summarise_permutations(read_rows(snakemake.input))
    notes = [confidence_study.describe_permutations(params.fitted), confidence_study.describe_fitting(params.fitted)]
    counts, subject = confidence_study.answered(table), "Confidence fitted on permuted labels"
    write_report(snakemake.output, table, confidence_study.PERMUTED, params.digits, subject, counts, notes=notes)
