"""Count names by origin, and measure them on the passages labelled by hand."""

import pandas as pd

from calibrag.corpus.naming.accuracy import Label, count_names, score_names
from calibrag.corpus.store import read_annotations, read_passages
from calibrag.job import logged
from calibrag.records import read_jsonl

collection = snakemake.wildcards.collection
passages, annotations = snakemake.input.passages, snakemake.input.annotations

with logged(snakemake.log[0]) as job:
    labels = [label for label in read_jsonl(snakemake.input.labels, Label) if label.collection == collection]
    counts = count_names(read_passages(passages), read_annotations(annotations))
    scores = score_names(labels, read_passages(passages), read_annotations(annotations))
    pd.DataFrame(counts).assign(collection=collection).to_csv(snakemake.output.counts, index=False)
    pd.DataFrame(scores).assign(collection=collection).to_csv(snakemake.output.accuracy, index=False)
    job.info(f"{len(labels)} labelled passages")
