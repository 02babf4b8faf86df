"""Which passages does each retriever return for a question as it stands?

Needs     results/{collection}/corpus/ and the questions
Makes     results/{collection}/retrieval/: sparse/, vectors/{vectors}/, dense/{dense}/, graph/,
          rankings/{retriever}.tsv.gz
Steps     build_sparse_index; embed_passages once a shard, then build_dense_index; index_names, then build_graph; then
          rank_questions once a retriever. A retriever waits only for the indexes that it searches;
          dense/{dense}/recall.csv says, on demand, what an approximate index loses
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


rule build_terrier_index:
    """Index the same fields for BM25F by Terrier, for retrievers of that engine: wants Java and Terrier's jars."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        annotations="results/{collection}/corpus/annotations.parquet",
    output:
        directory("results/{collection}/retrieval/terrier"),
    log:
        "results/logs/retrieval/build_terrier_index/{collection}.log",
    benchmark:
        "results/benchmarks/retrieval/build_terrier_index/{collection}.tsv"
    params:
        code=fingerprint("build_terrier_index"),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/build_terrier_index.py"


rule embed_passages:
    """Embed each passage of a shard: title, heading and text, behind names where wanted; a killed job goes on where it stopped."""
    input:
        passages="results/{collection}/corpus/passages.parquet",
        annotations="results/{collection}/corpus/annotations.parquet",
    output:
        "results/{collection}/retrieval/vectors/{vectors}/{shard}.npy",
    log:
        "results/logs/retrieval/embed_passages/{collection}/{vectors}/{shard}.log",
    benchmark:
        "results/benchmarks/retrieval/embed_passages/{collection}/{vectors}/{shard}.tsv"
    params:
        code=fingerprint("embed_passages"),
        embedder=take.passage_embedder,
        vectors=lookup(dpath="indexes/vectors/{vectors}", within=config),
        device=lookup(dpath="models/device", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/embed_passages.py"


rule build_dense_index:
    """Index the vectors, exactly or approximately."""
    input:
        passages="results/{collection}/corpus/passages.arrow",
        vectors=take.vectors,
    output:
        multiext("results/{collection}/retrieval/dense/{dense}/", "index.faiss", "ids.txt", "calibrag.json"),
    log:
        "results/logs/retrieval/build_dense_index/{collection}/{dense}.log",
    benchmark:
        "results/benchmarks/retrieval/build_dense_index/{collection}/{dense}.tsv"
    params:
        code=fingerprint("build_dense_index"),
        index=lookup(dpath="indexes/dense/{dense}/build", within=config),
    threads: 1
    resources:
        mem_mb=1000,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/build_dense_index.py"


rule measure_recall:
    """Measure, on demand, how much of exact search an approximate index finds."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        index=multiext("results/{collection}/retrieval/dense/{dense}/", "index.faiss", "ids.txt", "calibrag.json"),
        vectors=take.vectors,
    output:
        "results/{collection}/retrieval/dense/{dense}/recall.csv",
    log:
        "results/logs/retrieval/measure_recall/{collection}/{dense}.log",
    benchmark:
        "results/benchmarks/retrieval/measure_recall/{collection}/{dense}.tsv"
    params:
        code=fingerprint("measure_recall"),
        index=lookup(dpath="indexes/dense/{dense}", within=config),
        models=dict(
            device=lookup(dpath="models/device", within=config),
            embedder=lookup(dpath="models/embedder", within=config),
        ),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/measure_recall.py"


rule index_names:
    """Index which passages carry which names: for entity search, and as nodes of the graph."""
    input:
        passages="results/{collection}/corpus/passages.arrow",
        annotations="results/{collection}/corpus/annotations.parquet",
    output:
        "results/{collection}/retrieval/graph/nodes.parquet",
    log:
        "results/logs/retrieval/index_names/{collection}.log",
    benchmark:
        "results/benchmarks/retrieval/index_names/{collection}.tsv"
    params:
        code=fingerprint("index_names"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/index_names.py"


rule build_graph:
    """Join the names that stand together in passages, with counts and PMI."""
    input:
        passages="results/{collection}/corpus/passages.arrow",
        nodes="results/{collection}/retrieval/graph/nodes.parquet",
    output:
        "results/{collection}/retrieval/graph/edges.parquet",
    log:
        "results/logs/retrieval/build_graph/{collection}.log",
    benchmark:
        "results/benchmarks/retrieval/build_graph/{collection}.tsv"
    params:
        code=fingerprint("build_graph"),
        graph=lookup(dpath="indexes/graph", within=config),
    threads: 1
    resources:
        mem_mb=1000,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/build_graph.py"


rule rank_questions:
    """Rank passages for the questions with one retriever."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.arrow",
        sparse=take.sparse,
        dense=take.dense,
        vectors=take.vectors,
        graph=take.graph,
        adapter=take.reranker_of,
    output:
        "results/{collection}/retrieval/rankings/{retriever}.tsv.gz",
    log:
        "results/logs/retrieval/rank_questions/{collection}/{retriever}.log",
    benchmark:
        "results/benchmarks/retrieval/rank_questions/{collection}/{retriever}.tsv"
    params:
        code=fingerprint("rank_questions"),
        retriever=lookup(dpath="retrievers/{retriever}", within=config),
        models=take.search_models,
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/rank_questions.py"
