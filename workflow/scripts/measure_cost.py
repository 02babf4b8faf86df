"""Measure what the passes of a system cost."""

from itertools import islice

from calibrag.evaluation.cost import measure_cost
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl

files, names = snakemake.input, snakemake.wildcards

with logged(snakemake.log[0]) as job:
    asked = [each.qid for each in islice(read_jsonl(files.questions, Question), snakemake.params.asked)]
    cost = measure_cost(read_traces(files.traces), asked)
    cost.insert(0, "collection", names.collection)
    cost.insert(1, "system", names.system)
    cost.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(asked)} questions")
