"""Set the sources of confidence side by side on the same answers."""

from calibrag.confidence.comparison import compare_systems
from calibrag.job import logged
from calibrag.reporting import confidence_study
from calibrag.reporting.summaries import read_rows
from calibrag.reporting.tables import write_report
from calibrag.runs.names import fitted_runs

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    study, tests = params.study, params.significance
    others = [*study["compared"], *fitted_runs(study["fitted"])]
    rows = read_rows(files.answers)
    table = compare_systems(rows, files.signals, files.folds, study["answers"], others, params.bootstrap, tests)
    fitting = confidence_study.describe_fitting(study["fitted"])
    made = dict(
        bootstrap=params.bootstrap, notes=[confidence_study.describe_comparison(study["answers"], tests), fitting]
    )
    counts, subject = confidence_study.answered(table), "Confidence of the same answers"
    write_report(snakemake.output, table, confidence_study.CONFIDENCE, params.digits, subject, counts, **made)
