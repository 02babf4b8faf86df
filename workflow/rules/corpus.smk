"""What are the passages, which names do they carry, and which of them support an answer?

Needs     results/{collection}/collections/; the model of models.chat where a method of corpus.names says chat
Makes     results/{collection}/corpus/: passages.parquet (and passages.arrow, the same to look passages up in),
          annotations.parquet, qrels.txt (and unmatched.csv, the supporting facts that no passage holds); names/: the
          names of each origin by shard, counts.csv, accuracy.csv
Steps     chunk_documents; then build_qrels, and beside it annotate_passages and assign_names once a shard, unite_names,
          evaluate_names
"""


rule chunk_documents:
    """Cut documents into passages along sentences; a table is a passage of its own."""
    input:
        documents="results/{collection}/collections/documents.jsonl.gz",
    output:
        passages="results/{collection}/corpus/passages.parquet",
        arrow="results/{collection}/corpus/passages.arrow",
    log:
        "results/logs/corpus/chunk_documents/{collection}.log",
    benchmark:
        "results/benchmarks/corpus/chunk_documents/{collection}.tsv"
    params:
        code=fingerprint("chunk_documents"),
        chunking=lookup(dpath="corpus/chunking", within=config),
    threads: 4
    resources:
        mem_mb=1000,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/chunk_documents.py"


rule annotate_passages:
    """Annotate the names that the passages of a shard spell out."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        prompt=take.prompt("passage"),
    output:
        "results/{collection}/corpus/names/passage/{shard}.parquet",
    log:
        "results/logs/corpus/annotate_passages/{collection}/{shard}.log",
    benchmark:
        "results/benchmarks/corpus/annotate_passages/{collection}/{shard}.tsv"
    params:
        code=fingerprint("annotate_passages"),
        names=lookup(dpath="corpus/names/passage", within=config),
        tagger=lookup(dpath="models/tagger", within=config),
        chat=take.chat("passage"),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/annotate_passages.py"


rule assign_names:
    """Assign names of their document to the passages of a shard that refer to them without spelling them out."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        names="results/{collection}/corpus/names/passage/{shard}.parquet",
        prompt=take.prompt("document"),
    output:
        "results/{collection}/corpus/names/document/{shard}.parquet",
    log:
        "results/logs/corpus/assign_names/{collection}/{shard}.log",
    benchmark:
        "results/benchmarks/corpus/assign_names/{collection}/{shard}.tsv"
    params:
        code=fingerprint("assign_names"),
        names=lookup(dpath="corpus/names/document", within=config),
        chat=take.chat("document"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/assign_names.py"


rule unite_names:
    """Unite the names of both origins and of all shards, passage by passage."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        passage_level=take.shards("results/{collection}/corpus/names/passage/{shard}.parquet"),
        document_level=take.shards("results/{collection}/corpus/names/document/{shard}.parquet"),
    output:
        "results/{collection}/corpus/annotations.parquet",
    log:
        "results/logs/corpus/unite_names/{collection}.log",
    benchmark:
        "results/benchmarks/corpus/unite_names/{collection}.tsv"
    params:
        code=fingerprint("unite_names"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/unite_names.py"


rule evaluate_names:
    """Count names by origin, and measure them on the passages labelled by hand."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        annotations="results/{collection}/corpus/annotations.parquet",
        labels=lookup(dpath="corpus/names/labels", within=config),
    output:
        counts="results/{collection}/corpus/names/counts.csv",
        accuracy="results/{collection}/corpus/names/accuracy.csv",
    log:
        "results/logs/corpus/evaluate_names/{collection}.log",
    benchmark:
        "results/benchmarks/corpus/evaluate_names/{collection}.tsv"
    params:
        code=fingerprint("evaluate_names"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/evaluate_names.py"


rule build_qrels:
    """Grade each passage by the number of supporting facts that it holds."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.parquet",
    output:
        qrels="results/{collection}/corpus/qrels.txt",
        unmatched="results/{collection}/corpus/unmatched.csv",
    log:
        "results/logs/corpus/build_qrels/{collection}.log",
    benchmark:
        "results/benchmarks/corpus/build_qrels/{collection}.tsv"
    params:
        code=fingerprint("build_qrels"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/build_qrels.py"
