"""How good are the small models that everything else relies on?

Needs     workflow/resources/adapters/{adapter}/: the shipped adapter, and train.jsonl.xz and dev.jsonl.xz, its pairs
Makes     results/models/{adapter}/evaluation.csv; on demand results/models/{adapter}/adapter.safetensors and card.json
Steps     1. `snakemake --cores 2 results/models/reranker/card.json` trains one (not part of `all`)
          2. name its folder under models.reranker.adapter of config.yaml (models.verifier.encoder.adapter) and compare
             results/models/reranker/evaluation.csv before and after
"""


def adapter_of(encoder):
    """Return the files of the adapter that an encoder's settings name; none where it needs no adapter."""
    folder = encoder["adapter"]
    return multiext(f"{folder}/", "adapter.safetensors", "card.json") if folder else []


rule train_adapter:
    """Train the adapter of a cross-encoder on the training part of the shipped pairs."""
    input:
        pairs=BASE / "workflow/resources/adapters/{adapter}/train.jsonl.xz",
    output:
        multiext("results/models/{adapter}/", "adapter.safetensors", "card.json"),
    log:
        "results/logs/models/train_adapter/{adapter}.log",
    benchmark:
        "results/benchmarks/models/train_adapter/{adapter}.tsv"
    params:
        code=fingerprint("train_adapter"),
        base=lookup(dpath="models/embedder/model", within=config),
        training=lookup(dpath="training/{adapter}", within=config),
    threads: 2
    resources:
        mem_mb=3000,
    conda:
        "../../envs/train.yaml"
    script:
        "../scripts/train_adapter.py"


rule evaluate_reranker:
    """Measure the reranker on held-out questions, beside untrained cosine and shared words."""
    input:
        pairs=BASE / "workflow/resources/adapters/reranker/dev.jsonl.xz",
        adapter=adapter_of(config["models"]["reranker"]),
    output:
        "results/models/reranker/evaluation.csv",
    log:
        "results/logs/models/evaluate_reranker.log",
    benchmark:
        "results/benchmarks/models/evaluate_reranker.tsv"
    params:
        code=fingerprint("evaluate_reranker"),
        encoder=lookup(dpath="models/reranker", within=config),
        embedder=lookup(dpath="models/embedder", within=config),
        device=lookup(dpath="models/device", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_reranker.py"


rule evaluate_verifier:
    """Measure the verifier on held-out claims, beside untrained cosine and shared words."""
    input:
        pairs=BASE / "workflow/resources/adapters/verifier/dev.jsonl.xz",
        adapter=adapter_of(config["models"]["verifier"]["encoder"]),
    output:
        "results/models/verifier/evaluation.csv",
    log:
        "results/logs/models/evaluate_verifier.log",
    benchmark:
        "results/benchmarks/models/evaluate_verifier.tsv"
    params:
        code=fingerprint("evaluate_verifier"),
        encoder=lookup(dpath="models/verifier/encoder", within=config),
        embedder=lookup(dpath="models/embedder", within=config),
        device=lookup(dpath="models/device", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_verifier.py"
