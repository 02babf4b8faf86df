"""calibrag: question answering with confidence, from documents to tables. Run it with `make run`, or in its environment
with `snakemake --cores 32 all`; workflow/README.md says what each stage reads and writes.

Where results lie:

    results/{collection}/collections/                documents and questions of the collection, checked
    results/{collection}/corpus/                     passages, names, qrels
    results/{collection}/retrieval/                  sparse and dense index, graph of names, rankings/{retriever}.tsv.gz
    results/{collection}/evaluation/                 measures of the rankings of an experiment, by question
    results/{collection}/{system}/pass-{n}/{shard}/  traces of the n-th pass over each question
    results/{collection}/{system}/runs/              what is filed: PG-1, PG-2, answers with confidence
    results/{collection}/{system}/confidence/        signals of the studied answers, and fits on them
    results/{collection}/{system}/evaluation/        measures of the runs, by question
    results/{collection}/{system}/exports/{format}/  pages/   traces as other tools read them, and to be read in a browser
    results/models/{adapter}/                        training and evaluation of the adapters
    results/tables/{experiment}/  figures/{experiment}/
    results/logs/{stage}/  benchmarks/{stage}/  run_config.yaml  report.html

Every name in braces is a key of config.yaml; an import lies as a collection does, with the system `imported`.
"""

import os
from pathlib import Path

from snakemake.utils import min_version

from calibrag import configuration, inputs, job, provenance

min_version("9.27")

BASE = Path(os.path.relpath(workflow.basedir))  # relative, so that moving the folder changes no parameter


configfile: str(BASE / "config.yaml")


config = configuration.resolve(
    config,
    schema=configuration.load_yaml(BASE / "workflow/schemas/config.schema.yaml"),
    root=BASE,
    files=[BASE / "config.yaml", *workflow.overwrite_configfiles],
)
job.check_writable("results")
take = inputs.Inputs(config)
fingerprint = provenance.Fingerprints(BASE / "workflow/scripts")


report: "workflow/report/workflow.rst"


wildcard_constraints:
    **take.wildcards,


include: "workflow/rules/models.smk"
include: "workflow/rules/collections.smk"
include: "workflow/rules/corpus.smk"
include: "workflow/rules/retrieval.smk"
include: "workflow/rules/execution.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/confidence.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/reporting.smk"


rule all:
    default_target: True
    input:
        take.reported,
        "results/run_config.yaml",


onsuccess:
    print(job.where_results_lie("results"))


onerror:
    print(job.where_errors_lie(log))
