"""Ask the model again about the answers of a run: how sure it is, and what it answers from the nuggets alone."""

from functools import partial
from itertools import islice
from pathlib import Path

from calibrag.corpus.store import PassageStore
from calibrag.job import logged
from calibrag.records import Question, read_jsonl, write_jsonl
from calibrag.retrieval.runs import read_rankings
from calibrag.runs.answer_runs import read_answer_runs
from calibrag.runs.asking import ask_again, open_asker

files, params = snakemake.input, snakemake.params
settings = params.settings

with logged(snakemake.log[0]) as job:
    questions = {one.qid: one for one in islice(read_jsonl(files.questions, Question), params.asked)}
    rankings = {Path(run).stem: read_rankings(run) for run in files.passage_runs}
    entries = read_answer_runs([files.answers])[settings["answers_of"]]
    tell = partial(job.progress, unit="answers")
    ask = open_asker(params.models, settings, files.reader, snakemake.threads, tell, job.info)
    kept = {"passages": settings["passages"], "caps": settings["caps"]}
    made = ask_again(entries, questions, rankings, PassageStore.open(files.passages), ask, **kept)
    job.info(f"{write_jsonl(snakemake.output[0], made)} entries about {len(entries)} answers")
