"""Ask a chat model about the answers that no match decides and no person has reviewed."""

from itertools import islice

from calibrag.evaluation.label_files import read_opinions
from calibrag.evaluation.label_judge import judge_by_chat
from calibrag.evaluation.labels import given_answers, label_answers
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import Question, read_jsonl, write_jsonl
from calibrag.runs.answer_runs import read_answer_runs

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), params.asked))
    given = given_answers(read_traces(files.traces), read_answer_runs(files.runs))
    said = read_opinions(files.reviewed, [], [], given)
    undecided = label_answers(questions, given.answers, said, params.near).undecided
    write_jsonl(snakemake.output[0], judge_by_chat(undecided, params.chat, files.prompt, job.info))
