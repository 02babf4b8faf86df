"""Label the answers of all passes and runs as right or wrong."""

from calibrag.evaluation import label_files as kept
from calibrag.evaluation.labels import given_answers, label_answers
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl, write_jsonl
from calibrag.runs.answer_runs import read_answer_runs

files, params, made = snakemake.input, snakemake.params, snakemake.output

with logged(snakemake.log[0]) as job:
    known = list(read_jsonl(files.questions, Question))
    given = given_answers(read_traces(files.traces), read_answer_runs(files.runs))
    said = kept.read_opinions(files.reviewed, files.judged, files.logged, given)
    job.info(kept.describe_reviewed(said["review"], known, given))
    decision = label_answers(known[: params.asked], given.answers, said, params.near)
    write_jsonl(made.labels, decision.labels)
    kept.write_undecided(made.undecided, decision.undecided, given.filed_by)
    kept.write_conflicts(made.conflicts, decision.conflicts)
    kept.write_counts(made.counts, decision, **dict(snakemake.wildcards.items()))
    job.info(
        f"{len(decision.labels)} answers, {len(decision.undecided)} undecided, {len(decision.conflicts)} conflicts"
    )
