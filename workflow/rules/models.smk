"""How good are the small models that everything else relies on?

Needs     workflow/resources/adapters/{adapter}/: the shipped adapter, and train.jsonl.xz and dev.jsonl.xz, its pairs
Makes     results/models/{adapter}/evaluation.csv; on demand results/models/{adapter}/card.json and a new adapter beside it
Steps     1. `snakemake --cores 2 results/models/reranker/card.json` trains one (not part of `all`)
          2. name its folder under models.reranker.adapter of config.yaml (models.verifier.encoder.adapter) and compare
             results/models/reranker/evaluation.csv before and after
"""


rule train_adapter:
    """Train the adapter of a cross-encoder on the training part of the shipped pairs."""
    input:
        pairs=BASE / "workflow/resources/adapters/{adapter}/train.jsonl.xz",
    output:
        multiext("results/models/{adapter}/", "card.json", "adapter.safetensors"),
    log:
        "results/logs/models/train_adapter/{adapter}.log",
    benchmark:
        "results/benchmarks/models/train_adapter/{adapter}.tsv"
    params:
        code=fingerprint("train_adapter"),
        base=take.base,
        training=lookup(dpath="training/{adapter}", within=config),
    threads: 1
    resources:
        mem_mb=3000,
    conda:
        "../../envs/train.yaml"
    script:
        "../scripts/train_adapter.py"


rule train_reader:
    """Train the adapter of the reader on the training part of the shipped examples."""
    input:
        examples=BASE / "workflow/resources/adapters/reader/train.jsonl.xz",
        held_out=BASE / "workflow/resources/adapters/reader/dev.jsonl.xz",
    output:
        multiext("results/models/reader/", "card.json", "adapter_model.safetensors", "adapter_config.json"),
    log:
        "results/logs/models/train_reader.log",
    benchmark:
        "results/benchmarks/models/train_reader.tsv"
    params:
        code=fingerprint("train_reader"),
        base=lookup(dpath="models/reader/model", within=config),
        training=lookup(dpath="training/reader", within=config),
    threads: 1
    resources:
        mem_mb=4000,
    conda:
        "../../envs/train.yaml"
    script:
        "../scripts/train_reader.py"


rule unpack_reader:
    """Unpack the reader's weights, its adapter merged into them: the packed file takes long to parse."""
    input:
        adapter=take.reader,
    output:
        directory("results/models/reader/unpacked"),
    log:
        "results/logs/models/unpack_reader.log",
    benchmark:
        "results/benchmarks/models/unpack_reader.tsv"
    params:
        code=fingerprint("unpack_reader"),
        reader=dict(
            model=lookup(dpath="models/reader/model", within=config),
            adapter=lookup(dpath="models/reader/adapter", within=config),
            dtype=lookup(dpath="models/reader/dtype", within=config),
        ),
    threads: 1
    resources:
        mem_mb=2000,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/unpack_reader.py"


rule evaluate_adapter:
    """Measure the cross-encoder of an adapter on held-out pairs, beside untrained cosine and shared words."""
    input:
        pairs=BASE / "workflow/resources/adapters/{adapter}/dev.jsonl.xz",
        adapter=take.adapter,
    output:
        "results/models/{adapter}/evaluation.csv",
    log:
        "results/logs/models/evaluate_adapter/{adapter}.log",
    benchmark:
        "results/benchmarks/models/evaluate_adapter/{adapter}.tsv"
    params:
        code=fingerprint("evaluate_adapter"),
        encoder=take.encoder,
        embedder=lookup(dpath="models/embedder", within=config),
        device=lookup(dpath="models/device", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_adapter.py"


rule score_claims:
    """Score held-out claims against their evidence by the verifier, by further classifiers, by cosine and words."""
    input:
        held_out=take.held_out,
        trained_on=take.trained_on,
        verifier=take.verifier,
    output:
        "results/models/verifier/claims.csv.gz",
    log:
        "results/logs/models/score_claims.log",
    benchmark:
        "results/benchmarks/models/score_claims.tsv"
    params:
        code=fingerprint("score_claims"),
        files=lookup(dpath="evaluation/verifier/held_out", within=config),
        compared=lookup(dpath="evaluation/verifier/compared", within=config),
        verifier=lookup(dpath="models/verifier", within=config),
        embedder=take.passage_embedder,
        device=lookup(dpath="models/device", within=config),
    threads: 1
    resources:
        mem_mb=2000,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/score_claims.py"
