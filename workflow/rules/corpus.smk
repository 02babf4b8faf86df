"""What are the passages, which names do they carry, and which of them support an answer?

Needs     results/{collection}/collections/
Makes     results/{collection}/corpus/: passages.parquet, annotations.parquet, qrels.txt (and unmatched.csv, the
          supporting facts that no passage holds)
Steps     chunk_documents, then annotate_passages and build_qrels side by side
"""


rule chunk_documents:
    """Cut documents into passages along sentences; a table is a passage of its own."""
    input:
        documents="results/{collection}/collections/documents.jsonl.gz",
    output:
        "results/{collection}/corpus/passages.parquet",
    log:
        "results/logs/corpus/chunk_documents/{collection}.log",
    benchmark:
        "results/benchmarks/corpus/chunk_documents/{collection}.tsv"
    params:
        code=fingerprint("chunk_documents"),
        chunking=lookup(dpath="corpus/chunking", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/chunk_documents.py"


rule annotate_passages:
    """Annotate the names that a passage spells out."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
    output:
        "results/{collection}/corpus/annotations.parquet",
    log:
        "results/logs/corpus/annotate_passages/{collection}.log",
    benchmark:
        "results/benchmarks/corpus/annotate_passages/{collection}.tsv"
    params:
        code=fingerprint("annotate_passages"),
        tagger=lookup(dpath="models/tagger", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/annotate_passages.py"


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
