"""How good are the small models that everything else relies on?

Needs     the adapters in workflow/resources/adapters and the held-out pairs in workflow/resources/training
Makes     results/models/{adapter}/evaluation.csv; with the target results/models/{adapter}/adapter, a new adapter
Steps     1. `snakemake --cores 2 results/models/reranker/adapter` trains one (about 15 minutes; not part of `all`)
          2. compare results/models/reranker/evaluation.csv before and after
          3. name the folder under models.reranker.adapter of config.yaml, or copy it over the shipped one
"""


rule train_adapter:
    """Train the LoRA adapter of a cross-encoder on the training part of the shipped data."""
    input:
        data=BASE / "workflow/resources/training/{adapter}",
    output:
        directory("results/models/{adapter}/adapter"),
    log:
        "results/logs/models/train_adapter/{adapter}.log",
    benchmark:
        "results/benchmarks/models/train_adapter/{adapter}.tsv"
    params:
        code=fingerprint("train_adapter"),
        base=lookup(dpath="models/{adapter}/base", within=config),
        training=lookup(dpath="training/{adapter}", within=config),
    threads: 2
    resources:
        mem_mb=3000,
    conda:
        "../../envs/train.yaml"
    script:
        "../scripts/train_adapter.py"


rule evaluate_reranker:
    """Measure the reranker on held-out queries, beside untrained cosine and word overlap."""
    input:
        data=BASE / "workflow/resources/training/reranker",
        adapter=lookup(dpath="models/reranker/adapter", within=config),
    output:
        "results/models/reranker/evaluation.csv",
    log:
        "results/logs/models/evaluate_reranker.log",
    benchmark:
        "results/benchmarks/models/evaluate_reranker.tsv"
    params:
        code=fingerprint("evaluate_reranker"),
        model=lookup(dpath="models/reranker", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_reranker.py"


rule evaluate_verifier:
    """Measure the verifier on held-out claims, beside untrained cosine and word overlap."""
    input:
        data=BASE / "workflow/resources/training/verifier",
        adapter=lookup(dpath="models/verifier/adapter", within=config),
    output:
        "results/models/verifier/evaluation.csv",
    log:
        "results/logs/models/evaluate_verifier.log",
    benchmark:
        "results/benchmarks/models/evaluate_verifier.tsv"
    params:
        code=fingerprint("evaluate_verifier"),
        model=lookup(dpath="models/verifier", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_verifier.py"
