"""Compare a system with the one that it starts from, on the same questions."""

import pandas as pd

from calibrag.evaluation.ablation import RUNS, compare_answers, compare_passages
from calibrag.evaluation.answer_significance import Settings
from calibrag.job import logged
from calibrag.reporting.summaries import read_rows

files, params, names = snakemake.input, snakemake.params, snakemake.wildcards
settings = Settings.of(params.bootstrap, params.significance, params.missing)
passages, answers = ([params.compared[kind][run] for run in RUNS] for kind in ("passages", "answers"))

with logged(snakemake.log[0]) as job:
    ranked = [read_rows([path]) for path in (files.passages, files.base_passages)]
    answered = [read_rows([path]) for path in (files.answers, files.base_answers)]
    by_passages = compare_passages(*ranked, passages, params.measures, params.no_relevant, settings)
    by_answers = compare_answers(*answered, answers, params.compared["answers"]["measures"], settings)
    table = pd.concat([by_passages, by_answers], ignore_index=True)
    for place, (name, value) in enumerate([*names.items(), ("base", params.base)]):
        table.insert(place, name, value)
    table.to_csv(snakemake.output[0], index=False)
    job.info(f"{len(table)} comparisons with {params.base}")
