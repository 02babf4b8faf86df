"""Grade passages by the supporting facts that they hold."""

import pandas as pd

from calibrag.corpus.store import read_passages
from calibrag.corpus.support import UnmatchedFact, qrels
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import write_qrels

with logged(snakemake.log[0]) as job:
    questions = list(read_jsonl(snakemake.input.questions, Question))
    judged, unmatched = qrels(questions, read_passages(snakemake.input.passages))
    write_qrels(snakemake.output.qrels, judged)
    pd.DataFrame(unmatched, columns=UnmatchedFact._fields).to_csv(snakemake.output.unmatched, index=False)
    job.info(f"{len(judged)} judgements, {len(unmatched)} facts that no passage holds")
