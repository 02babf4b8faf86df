"""Which passages does each retriever return for a question as it stands?

Needs     results/{collection}/corpus/ and the questions
Makes     results/{collection}/retrieval/: sparse/, dense/, rankings/{retriever}.tsv.gz
Steps     build_sparse_index; embed_passages, then build_dense_index; then rank_questions once a retriever. A retriever
          waits only for the indexes that it searches
"""


rule build_sparse_index:
    """Index text, title, heading and names of the passages for fielded BM25."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        annotations="results/{collection}/corpus/annotations.parquet",
    output:
        directory("results/{collection}/retrieval/sparse"),
    log:
        "results/logs/retrieval/build_sparse_index/{collection}.log",
    benchmark:
        "results/benchmarks/retrieval/build_sparse_index/{collection}.tsv"
    params:
        code=fingerprint("build_sparse_index"),
        index=lookup(dpath="indexes/sparse", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/build_sparse_index.py"


rule embed_passages:
    """Embed each passage: its first names, title, heading and text."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        annotations="results/{collection}/corpus/annotations.parquet",
    output:
        "results/{collection}/retrieval/dense/vectors.npy",
    log:
        "results/logs/retrieval/embed_passages/{collection}.log",
    benchmark:
        "results/benchmarks/retrieval/embed_passages/{collection}.tsv"
    params:
        code=fingerprint("embed_passages"),
        embedder=lookup(dpath="models/embedder", within=config),
        index=lookup(dpath="indexes/dense", within=config),
        device=lookup(dpath="models/device", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/embed_passages.py"


rule build_dense_index:
    """Index the vectors for exact search."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        vectors="results/{collection}/retrieval/dense/vectors.npy",
    output:
        multiext("results/{collection}/retrieval/dense/", "index.faiss", "ids.txt", "calibrag.json"),
    log:
        "results/logs/retrieval/build_dense_index/{collection}.log",
    benchmark:
        "results/benchmarks/retrieval/build_dense_index/{collection}.tsv"
    params:
        code=fingerprint("build_dense_index"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/build_dense_index.py"


rule rank_questions:
    """Rank passages for the questions with one retriever."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.parquet",
        sparse=branch(
            lookup(dpath="retrievers/{retriever}/lexical", within=config),
            then="results/{collection}/retrieval/sparse",
            otherwise=[],
        ),
        dense=branch(
            lookup(dpath="retrievers/{retriever}/dense", within=config),
            then=multiext("results/{collection}/retrieval/dense/", "index.faiss", "ids.txt", "calibrag.json"),
            otherwise=[],
        ),
        adapter=branch(
            lookup(dpath="retrievers/{retriever}/rerank", within=config),
            then=take.reranker,
            otherwise=[],
        ),
    output:
        "results/{collection}/retrieval/rankings/{retriever}.tsv.gz",
    log:
        "results/logs/retrieval/rank_questions/{collection}/{retriever}.log",
    benchmark:
        "results/benchmarks/retrieval/rank_questions/{collection}/{retriever}.tsv"
    params:
        code=fingerprint("rank_questions"),
        retriever=lookup(dpath="retrievers/{retriever}", within=config),
        models=dict(
            device=lookup(dpath="models/device", within=config),
            embedder=lookup(dpath="models/embedder", within=config),
            reranker=lookup(dpath="models/reranker", within=config),
        ),
        folder="results/{collection}/retrieval",
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/rank_questions.py"
