"""Run one pass of a system over a shard of a collection's questions."""

from functools import partial

from calibrag.execution.opening import PassFiles, open_agent, open_world, provenance_of
from calibrag.execution.passes import Journal, Names, of_shard, run_pass
from calibrag.execution.traces import read_traces, write_traces
from calibrag.job import logged
from calibrag.provenance import fingerprint_of_job
from calibrag.records import Question, read_jsonl

files, made, names, settings = snakemake.input, snakemake.output, snakemake.wildcards, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = of_shard(list(read_jsonl(files.questions, Question)), settings.system["questions"], names.shard)
    agent = open_agent(settings.system)
    world = open_world(agent.policy, settings.system, settings.models, PassFiles.of(files), snakemake.threads)
    provenance = provenance_of(settings.code, settings.system, settings.models)
    journal = Journal(settings.journal, fingerprint_of_job(files, settings))
    more = dict(names=Names(names.collection, names.system, provenance), journal=journal, **settings.execution)
    counter = partial(job.counter, "questions")
    traces = run_pass(questions, read_traces(files.earlier), agent, world, counter=counter, **more)
    job.info(f"chat: {world.spending or 'not asked'}")
    write_traces(made.traces, made.prompts, traces, agent.policy.prompts)
    journal.close()
