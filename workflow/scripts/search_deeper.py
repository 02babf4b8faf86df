"""Search on for the queries of first passes whose ranking is shorter than PG-2."""

from functools import partial

from calibrag.corpus.store import PassageStore
from calibrag.execution.traces import read_traces
from calibrag.job import logged
from calibrag.records import write_jsonl
from calibrag.retrieval.opening import IndexFiles, open_retriever
from calibrag.retrieval.runs import read_rankings
from calibrag.runs.list_length import deeper, search_deeper, short

files, params = snakemake.input, snakemake.params

with logged(snakemake.log[0]) as job:
    qids = short(*map(read_rankings, files.runs))
    traces = read_traces(files.traces)
    settings = deeper(params.retriever, params.filed)
    opened = (IndexFiles.of(files), PassageStore.open(files.passages), params.models, snakemake.threads)
    found = search_deeper([traces[qid][0] for qid in qids], partial(open_retriever, settings, *opened))
    write_jsonl(snakemake.output[0], found)
    job.info(f"PG-1 is short for {len(qids)} questions, {len(found)} queries searched deeper; for none no model loads")
