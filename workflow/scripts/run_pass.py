"""Run one pass of a system over the questions of a collection."""

from calibrag.execution.opening import open_agent, open_world
from calibrag.execution.passes import Journal, check_error_rate, run_pass
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.provenance import fingerprint_of_job
from calibrag.records import Question, read_jsonl, write_jsonl
from calibrag.retrieval.opening import IndexFiles

system, execution = snakemake.params.system, snakemake.params.execution
files = [IndexFiles.of(snakemake.input), *map(snakemake.input.get, ("names", "passages", "reader"))]

with logged(snakemake.log[0]) as job:
    questions = list(read_jsonl(snakemake.input.questions, Question))
    names = dict(collection=snakemake.wildcards.collection, system=snakemake.wildcards.system)
    world = open_world(system, snakemake.params.models, *files, snakemake.threads)
    policy, settings, passes = open_agent(system)
    agent = dict(policy=policy, settings=settings, passes=passes, handlers=world, in_flight=execution["in_flight"])
    journal = Journal(snakemake.params.journal, fingerprint_of_job(snakemake.input, snakemake.params))
    more = dict(**names, **agent, journal=journal, progress=job.counter("questions", len(questions)))
    traces = run_pass(questions, read_traces(snakemake.input.earlier), **more)
    check_error_rate(traces, execution["max_error_rate"])
    write_jsonl(snakemake.output[0], traces)
    journal.close()
