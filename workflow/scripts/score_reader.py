"""Judge what the reader chose beside cheap choices from the same candidates."""

from itertools import islice

import pandas as pd

from calibrag.evaluation.csv_files import write_frame
from calibrag.evaluation.reader import compare_choices
from calibrag.job import logged
from calibrag.records import Question, read_jsonl

files, names, bootstrap = snakemake.input, snakemake.wildcards, snakemake.params.bootstrap
as_written = {"lines": True, "dtype": False, "convert_dates": False}

with logged(snakemake.log[0]) as job:
    questions = list(islice(read_jsonl(files.questions, Question), snakemake.params.asked))
    settings = (bootstrap["resamples"], bootstrap["level"], bootstrap["seed"])
    scores = {
        (*names, passages): compare_choices(pd.read_json(files[passages], **as_written), questions, *settings)
        for passages in ("read", "gold")
    }
    table = pd.concat(scores, names=["collection", "system", "passages"]).reset_index(level=[0, 1, 2])
    write_frame(snakemake.output[0], table)
    job.info(f"{len(questions)} questions")
