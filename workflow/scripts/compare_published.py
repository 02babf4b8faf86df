"""Set rankings beside those that others published, in their measures."""

import pandas as pd

from calibrag.evaluation.published import compare_published, rank_documents, read_doc_ids
from calibrag.job import logged
from calibrag.records import Question, read_jsonl
from calibrag.retrieval.runs import read_rankings

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    doc_ids = read_doc_ids(files.passages)
    rankings = [rank_documents(read_rankings(run), doc_ids) for run in files.ours]
    table = compare_published(
        name=params.published["name"],
        theirs=read_rankings(files.theirs),
        printed=pd.read_csv(files.means),
        ours=dict(zip(params.retrievers, rankings, strict=True)),
        asked=list(read_jsonl(files.asked, Question)),
        qids=[question.qid for question in read_jsonl(files.questions, Question)],
        resampling=params.bootstrap,
    )
    table.insert(0, "collection", snakemake.wildcards.collection)
    table.to_csv(snakemake.output[0], index=False)
