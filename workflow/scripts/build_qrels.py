"""Grade passages by the supporting facts that they hold."""

import pandas as pd

from calibrag.corpus.store import read_passages
from calibrag.corpus.support import UnmatchedFact, qrels
from calibrag.job import logged
from calibrag.records import Question, read_jsonl

with logged(snakemake.log[0]) as log:
    questions = list(read_jsonl(snakemake.input.questions, Question))
    judged, unmatched = qrels(questions, read_passages(snakemake.input.passages))
    lines = pd.DataFrame(judged, columns=["qid", "passage_id", "grade"])
    lines.insert(1, "iteration", 0)
    lines.to_csv(snakemake.output.qrels, sep=" ", header=False, index=False)
    pd.DataFrame(unmatched, columns=UnmatchedFact._fields).to_csv(snakemake.output.unmatched, index=False)
    log.info("%d judgements, %d facts that no passage holds", len(judged), len(unmatched))
