"""Find the answers to a question that say the same in other words."""

from itertools import islice

from calibrag.execution.opening import open_verifier
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl, write_jsonl
from calibrag.runs.answer_matching import match_answers

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    verifier = open_verifier(params.models, snakemake.threads)
    same = match_answers(questions, read_traces(files.traces), verifier, params.threshold)
    write_jsonl(snakemake.output[0], same)
    job.info(f"{len(questions)} questions, {len(same)} groups of answers")
