"""Judge what the reader chose beside cheap choices from the same candidates."""

import pandas as pd

from calibrag.evaluation.readings import score_readings
from calibrag.job import logged
from calibrag.records import Question, read_jsonl

names = snakemake.wildcards

with logged(snakemake.log[0]) as job:
    questions = list(read_jsonl(snakemake.input.questions, Question))
    scores = {
        (names.collection, names.system, context): score_readings(pd.read_parquet(snakemake.input[context]), questions)
        for context in ("read", "gold")
    }
    table = pd.concat(scores, names=["collection", "system", "passages"]).reset_index(level=[0, 1, 2])
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(questions)} questions")
