"""What does the agent do on each question, and how well does its reader read?

Needs     questions, passages, indexes, the adapters; for imports, the log of another system
Makes     results/{collection}/{system}/pass-{n}/{shard}/traces.jsonl, one record a question with all that the pass did,
          and prompts.json, the system prompts that the traces name; results/{collection}/{system}/reader/, what the reader alone chooses
Steps     run_pass for n = 1, 2, ...: a later pass searches without the passages that the earlier ones recorded; passes
          above passes.minimum run only on the questions where the last two were unsure. import_questions and
          import_traces make the same files of a log, with results/{import}/imported/labels.csv, what the log says of
          its answers, which no signal reads
"""


rule run_pass:
    """Run the n-th pass of a system over a shard of a collection's questions."""
    input:
        earlier=take.earlier_passes,
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.arrow",
        names="results/{collection}/retrieval/graph/nodes.parquet",
        sparse=take.sparse,
        dense=take.dense,
        vectors=take.vectors,
        graph=take.graph,
        reranker=take.reranker_of,
        verifier=take.verifier_of,
        reader=take.reader_of,
        prompts=take.prompts,
    output:
        traces="results/{collection}/{system}/pass-{n}/{shard}/traces.jsonl",
        prompts="results/{collection}/{system}/pass-{n}/{shard}/prompts.json",
    log:
        "results/logs/execution/run_pass/{collection}/{system}/pass-{n}/{shard}.log",
    benchmark:
        "results/benchmarks/execution/run_pass/{collection}/{system}/pass-{n}/{shard}.tsv"
    params:
        code=fingerprint("run_pass"),
        journal="results/{collection}/{system}/pass-{n}/{shard}/journal",
        system=lookup(dpath="systems/{system}", within=config),
        models=take.models_of_pass,
        execution=take.execution,
    threads: 1
    resources:
        mem_mb=2500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.own,
    script:
        "../scripts/run_pass.py"


rule import_questions:
    """Read the questions of a log of another system, and what the log says of its answers."""
    input:
        log=lookup(dpath="imports/{collection}/path", within=config),
    output:
        questions="results/{collection}/collections/questions.jsonl",
        labels="results/{collection}/imported/labels.csv",
    log:
        "results/logs/execution/import_questions/{collection}.log",
    benchmark:
        "results/benchmarks/execution/import_questions/{collection}.tsv"
    params:
        code=fingerprint("import_questions"),
        source=take.source,
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.imports,
    script:
        "../scripts/import_questions.py"


rule import_traces:
    """Read the n-th pass over each question of a log of another system."""
    input:
        log=lookup(dpath="imports/{collection}/path", within=config),
    output:
        "results/{collection}/imported/pass-{n}/1-of-1/traces.jsonl",
    log:
        "results/logs/execution/import_traces/{collection}/pass-{n}.log",
    benchmark:
        "results/benchmarks/execution/import_traces/{collection}/pass-{n}.tsv"
    params:
        code=fingerprint("import_traces"),
        source=take.source,
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.imports,
    script:
        "../scripts/import_traces.py"


rule evaluate_reader:
    """Let the reader alone answer from what the first pass read, and from the gold passages."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.arrow",
        qrels="results/{collection}/corpus/qrels.txt",
        traces=take.first_pass,
        reader="results/models/reader/unpacked",
    output:
        read="results/{collection}/{system}/reader/read.jsonl",
        gold="results/{collection}/{system}/reader/gold.jsonl",
    log:
        "results/logs/execution/evaluate_reader/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/execution/evaluate_reader/{collection}/{system}.tsv"
    params:
        code=fingerprint("evaluate_reader"),
        asked=take.asked,
        models=dict(
            device=lookup(dpath="models/device", within=config),
            embedder=lookup(dpath="models/embedder", within=config),
            reader=lookup(dpath="models/reader", within=config),
        ),
    threads: 1
    resources:
        mem_mb=2500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_reader.py"
