"""Which documents and questions are worked on?

Needs     the documents and questions of each collection in config.yaml (formats: workflow/resources/collections/README.md)
Makes     results/{collection}/collections/documents.jsonl.gz and questions.jsonl: checked, the questions sampled
Steps     read_documents, then read_questions; apart, so that a changed question does not rebuild an index. Where
          collections.*.unsupported takes the support of questions out, read_documents needs the questions too
"""


rule read_documents:
    """Read the documents from their format in a stream; each error names file and line or member."""
    input:
        documents=lookup(dpath="collections/{collection}/documents/path", within=config),
        questions=take.questions_unsupported,
    output:
        "results/{collection}/collections/documents.jsonl.gz",
    log:
        "results/logs/collections/read_documents/{collection}.log",
    benchmark:
        "results/benchmarks/collections/read_documents/{collection}.tsv"
    params:
        code=fingerprint("read_documents"),
        format=lookup(dpath="collections/{collection}/documents/format", within=config),
        unsupported=take.unsupported,
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        collection=take.own["collection"],
    script:
        "../scripts/read_documents.py"


rule read_questions:
    """Check the questions of a split and draw the configured sample."""
    input:
        documents="results/{collection}/collections/documents.jsonl.gz",
        questions=lookup(dpath="collections/{collection}/questions/path", within=config),
    output:
        "results/{collection}/collections/questions.jsonl",
    log:
        "results/logs/collections/read_questions/{collection}.log",
    benchmark:
        "results/benchmarks/collections/read_questions/{collection}.tsv"
    params:
        code=fingerprint("read_questions"),
        format=lookup(dpath="collections/{collection}/questions/format", within=config),
        answered=lookup(dpath="collections/{collection}/answers", within=config),
        split=lookup(dpath="collections/{collection}/split", within=config),
        sample=lookup(dpath="collections/{collection}/sample", within=config),
        unsupported=take.unsupported,
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        collection=take.own["collection"],
    script:
        "../scripts/read_questions.py"
