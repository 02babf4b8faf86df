"""Run one pass of a system over the questions of a collection."""

from calibrag.execution.opening import open_agent, open_world
from calibrag.execution.passes import Journal, check_error_rate, run_pass
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.provenance import fingerprint_of_job
from calibrag.records import Question, read_jsonl, write_jsonl

system, execution = snakemake.params.system, snakemake.params.execution
files = [snakemake.input.passages, snakemake.input.reader]

with logged(snakemake.log[0]) as job:
    questions = list(read_jsonl(snakemake.input.questions, Question))
    policy, settings, passes = open_agent(system)
    names = dict(collection=snakemake.wildcards.collection, system=snakemake.wildcards.system)
    world = open_world(system, snakemake.params.models, snakemake.params.folder, *files, snakemake.threads)
    agent = dict(policy=policy, settings=settings, passes=passes, handlers=world, in_flight=execution["in_flight"])
    journal = Journal(snakemake.params.journal, fingerprint_of_job(snakemake.input, snakemake.params))
    count = job.counter("questions", len(questions))
    earlier = read_traces(snakemake.input.earlier)
    traces = run_pass(questions, earlier, **names, **agent, journal=journal, progress=count)
    check_error_rate(traces, execution["max_error_rate"])
    write_jsonl(snakemake.output[0], traces)
    journal.close()
