"""Which passages, answers and confidences are filed?

Needs     the traces of all passes of a system
Makes     results/{collection}/{system}/runs/: PG-1.txt and PG-2.txt (TREC runs), AC-1.jsonl and AC-2.jsonl
Steps     select_passage_runs, then select_answer_runs, whose nuggets cite the passages filed
"""


rule select_passage_runs:
    """File the passages of the first pass (PG-1) and of the passes that agree on an answer (PG-2)."""
    input:
        traces=take.all_passes,
    output:
        multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
    log:
        "results/logs/runs/select_passage_runs/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/select_passage_runs/{collection}/{system}.tsv"
    params:
        code=fingerprint("select_passage_runs"),
        length=lookup(dpath="evaluation/passages_filed", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/select_passage_runs.py"


rule select_answer_runs:
    """File the first pass's answer (AC-1) and the most confident submission (AC-2), with nuggets."""
    input:
        traces=take.all_passes,
        passage_runs=multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
    output:
        multiext("results/{collection}/{system}/runs/", "AC-1.jsonl", "AC-2.jsonl"),
    log:
        "results/logs/runs/select_answer_runs/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/select_answer_runs/{collection}/{system}.tsv"
    params:
        code=fingerprint("select_answer_runs"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/select_answer_runs.py"
