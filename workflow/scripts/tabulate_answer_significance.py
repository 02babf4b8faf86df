"""Compare each pair of answer runs of a system."""

from calibrag.job import logged
from calibrag.reporting import answer_tables, summaries
from calibrag.reporting.tables import write_report

params = snakemake.params
compared, tests = params.compared, params.significance

with logged(snakemake.log[0]) as job:
    scores = summaries.read_rows(snakemake.input)
    table = answer_tables.compare_answers(scores, compared, params.missing, params.bootstrap, tests)
    shown = answer_tables.against_reference(table, compared["reference"])
    notes = [answer_tables.describe_exchange(tests), summaries.describe_shown(table, shown, compared["reference"])]
    made = dict(bootstrap=params.bootstrap, notes=notes, shown=shown)
    write_report(snakemake.output, table, answer_tables.PAIRS, params.digits, "Pairs of answer runs", {}, **made)
