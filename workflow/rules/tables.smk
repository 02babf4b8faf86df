"""What came out, in numbers?

Needs     what was counted and measured of an experiment's collections, retrievers and systems, question by question
Makes     results/tables/{experiment}/*.csv in full precision, *.md for reading, *.tex for papers
Steps     one rule a table; each reads its own inputs only, so one changed system rewrites the tables that show it
"""


rule tabulate_collections:
    """Count documents, passages, names, questions and their support in each collection."""
    input:
        documents=take.each("results/{collection}/collections/documents.jsonl.gz"),
        questions=take.each("results/{collection}/collections/questions.jsonl"),
        passages=take.each("results/{collection}/corpus/passages.parquet"),
        annotations=take.each("results/{collection}/corpus/annotations.parquet"),
        qrels=take.each("results/{collection}/corpus/qrels.txt"),
        unmatched=take.each("results/{collection}/corpus/unmatched.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/collections.csv",
            caption="../report/collections.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "collections"},
        ),
        md="results/tables/{experiment}/collections.md",
        tex="results/tables/{experiment}/collections.tex",
    log:
        "results/logs/tables/tabulate_collections/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_collections/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_collections"),
        collections=take.chosen("collections"),
        about=lookup(dpath="collections", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_collections.py"


rule tabulate_names:
    """Set names side by side by collection and origin: how many, and how many are right."""
    input:
        counts=collect("results/{collection}/corpus/names/counts.csv", collection=take.chosen("collections")),
        accuracy=collect("results/{collection}/corpus/names/accuracy.csv", collection=take.chosen("collections")),
    output:
        csv=report(
            "results/tables/{experiment}/names.csv",
            caption="../report/names.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "names"},
        ),
        md="results/tables/{experiment}/names.md",
        tex="results/tables/{experiment}/names.tex",
    log:
        "results/logs/tables/tabulate_names/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_names/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_names"),
        models=take.model_names("tagger"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_names.py"


rule tabulate_models:
    """Set the adapters beside untrained cosine and word overlap."""
    input:
        reranker="results/models/reranker/evaluation.csv",
        verifier="results/models/verifier/evaluation.csv",
    output:
        csv=report(
            "results/tables/{experiment}/models.csv",
            caption="../report/models.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "models"},
        ),
        md="results/tables/{experiment}/models.md",
        tex="results/tables/{experiment}/models.tex",
    log:
        "results/logs/tables/tabulate_models/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_models/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_models"),
        models=take.model_names("embedder", "reranker", "verifier"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_models.py"


rule tabulate_verifier:
    """Set the verifier on held-out claims beside other scorers of the same windows, with bootstrap intervals."""
    input:
        "results/models/verifier/claims.csv.gz",
    output:
        csv=report(
            "results/tables/models/verifier.csv",
            caption="../report/verifier.rst",
            category="Tables",
            subcategory="models",
            labels={"table": "verifier"},
        ),
        md="results/tables/models/verifier.md",
        tex="results/tables/models/verifier.tex",
    log:
        "results/logs/tables/tabulate_verifier.log",
    benchmark:
        "results/benchmarks/tables/tabulate_verifier.tsv"
    params:
        code=fingerprint("tabulate_verifier"),
        threshold=lookup(dpath="evaluation/verifier/threshold", within=config),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        models=take.model_names("embedder", "verifier"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_verifier.py"


rule tabulate_reader:
    """Set the reader beside a first and a random candidate, and beside itself on the gold passages."""
    input:
        take.each("results/{collection}/{system}/evaluation/reader.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/reader.csv",
            caption="../report/reader.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "reader"},
        ),
        md="results/tables/{experiment}/reader.md",
        tex="results/tables/{experiment}/reader.tex",
    log:
        "results/logs/tables/tabulate_reader/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_reader/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_reader"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        models=take.model_names("reader"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_reader.py"


rule tabulate_retrieval:
    """Set the retrievers side by side, with bootstrap intervals."""
    input:
        take.each("results/{collection}/evaluation/rankings/{experiment}.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/retrieval.csv",
            caption="../report/retrieval.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "retrieval"},
        ),
        md="results/tables/{experiment}/retrieval.md",
        tex="results/tables/{experiment}/retrieval.tex",
    log:
        "results/logs/tables/tabulate_retrieval/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_retrieval/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_retrieval"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        models=take.model_names("embedder", "reranker"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_retrieval.py"


rule tabulate_significance:
    """Compare each pair of retrievers: difference, tests, questions won and lost, effect sizes."""
    input:
        take.each("results/{collection}/evaluation/rankings/{experiment}.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/significance.csv",
            caption="../report/significance.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "significance"},
        ),
        md="results/tables/{experiment}/significance.md",
        tex="results/tables/{experiment}/significance.tex",
    log:
        "results/logs/tables/tabulate_significance/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_significance/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_significance"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_significance.py"


rule tabulate_published:
    """Set retrievers beside the rankings that others published."""
    input:
        take.published,
    output:
        csv=report(
            "results/tables/{experiment}/published.csv",
            caption="../report/published.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "published results"},
        ),
        md="results/tables/{experiment}/published.md",
        tex="results/tables/{experiment}/published.tex",
    log:
        "results/logs/tables/tabulate_published/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_published/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_published"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        models=take.model_names("embedder", "reranker"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_published.py"


rule tabulate_passage_runs:
    """Set the passage runs side by side, with bootstrap intervals."""
    input:
        take.scores("passages"),
    output:
        csv=report(
            "results/tables/{experiment}/passage_runs.csv",
            caption="../report/passage_runs.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "passage runs"},
        ),
        md="results/tables/{experiment}/passage_runs.md",
        tex="results/tables/{experiment}/passage_runs.tex",
    log:
        "results/logs/tables/tabulate_passage_runs/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_passage_runs/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_passage_runs"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        filed=lookup(dpath="evaluation/passages_filed", within=config),
        models=take.models_used,
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_passage_runs.py"


rule tabulate_passage_significance:
    """Compare each pair of passage runs of a collection: difference, tests, questions won and lost, effect sizes."""
    input:
        take.scores("passages"),
    output:
        csv=report(
            "results/tables/{experiment}/passage_significance.csv",
            caption="../report/passage_significance.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "significance of passage runs"},
        ),
        md="results/tables/{experiment}/passage_significance.md",
        tex="results/tables/{experiment}/passage_significance.tex",
    log:
        "results/logs/tables/tabulate_passage_significance/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_passage_significance/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_passage_significance"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
        compared=lookup(dpath="evaluation/compared/passages", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_passage_significance.py"


rule tabulate_passage_types:
    """Compare two passage runs of each system by type of question."""
    input:
        passages=take.each("results/{collection}/{system}/evaluation/passages.csv"),
        questions=take.each("results/{collection}/collections/questions.jsonl"),
    output:
        csv=report(
            "results/tables/{experiment}/passage_types.csv",
            caption="../report/passage_types.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "passage runs by type"},
        ),
        md="results/tables/{experiment}/passage_types.md",
        tex="results/tables/{experiment}/passage_types.tex",
    log:
        "results/logs/tables/tabulate_passage_types/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_passage_types/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_passage_types"),
        collections=take.chosen("collections"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        compared=lookup(dpath="evaluation/compared/passages", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_passage_types.py"


rule tabulate_length:
    """Say how much of the gain of PG-2 over PG-1 is the length of its rankings."""
    input:
        take.each("results/{collection}/{system}/evaluation/length.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/length.csv",
            caption="../report/length.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "length of rankings"},
        ),
        md="results/tables/{experiment}/length.md",
        tex="results/tables/{experiment}/length.tex",
    log:
        "results/logs/tables/tabulate_length/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_length/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_length"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_length.py"


rule tabulate_answer_runs:
    """Set the answer runs side by side: accuracy and confidence, with bootstrap intervals."""
    input:
        take.scores("answers"),
    output:
        csv=report(
            "results/tables/{experiment}/answer_runs.csv",
            caption="../report/answer_runs.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "answer runs"},
        ),
        md="results/tables/{experiment}/answer_runs.md",
        tex="results/tables/{experiment}/answer_runs.tex",
    log:
        "results/logs/tables/tabulate_answer_runs/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_answer_runs/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_answer_runs"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        measures=lookup(dpath="evaluation/answer_measures", within=config),
        missing=lookup(dpath="evaluation/missing", within=config),
        models=take.models_used,
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_answer_runs.py"


rule tabulate_answer_significance:
    """Compare each pair of answer runs of a system: difference, exchange test, questions won and lost."""
    input:
        take.each("results/{collection}/{system}/evaluation/answers.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/answer_significance.csv",
            caption="../report/answer_significance.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "significance of answer runs"},
        ),
        md="results/tables/{experiment}/answer_significance.md",
        tex="results/tables/{experiment}/answer_significance.tex",
    log:
        "results/logs/tables/tabulate_answer_significance/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_answer_significance/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_answer_significance"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        missing=lookup(dpath="evaluation/missing", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
        compared=lookup(dpath="evaluation/compared/answers", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_answer_significance.py"


rule tabulate_answer_types:
    """Compare two answer runs of each system by type of question."""
    input:
        take.each("results/{collection}/{system}/evaluation/answers.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/answer_types.csv",
            caption="../report/answer_types.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "answer runs by type"},
        ),
        md="results/tables/{experiment}/answer_types.md",
        tex="results/tables/{experiment}/answer_types.tex",
    log:
        "results/logs/tables/tabulate_answer_types/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_answer_types/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_answer_types"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        missing=lookup(dpath="evaluation/missing", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
        compared=lookup(dpath="evaluation/compared/answers", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_answer_types.py"


rule tabulate_signals:
    """Set the signals side by side: how well each tells right answers from wrong ones."""
    input:
        take.each("results/{collection}/{system}/confidence/signal_scores.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/signals.csv",
            caption="../report/signals.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "signals"},
        ),
        md="results/tables/{experiment}/signals.md",
        tex="results/tables/{experiment}/signals.tex",
    log:
        "results/logs/tables/tabulate_signals/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_signals/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_signals"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        run=lookup(dpath="confidence/answers", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_signals.py"


rule tabulate_labels:
    """Count which sources decided what answers are right, and where they disagree."""
    input:
        take.each("results/{collection}/{system}/evaluation/label_counts.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/labels.csv",
            caption="../report/labels.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "labels"},
        ),
        md="results/tables/{experiment}/labels.md",
        tex="results/tables/{experiment}/labels.tex",
    log:
        "results/logs/tables/tabulate_labels/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_labels/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_labels"),
        near=lookup(dpath="evaluation/labels/near", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_labels.py"


rule tabulate_ablations:
    """Set out what each system of an experiment gains and loses against the one that it starts from."""
    input:
        take.ablations,
    output:
        csv=report(
            "results/tables/{experiment}/ablations.csv",
            caption="../report/ablations.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "ablations"},
        ),
        md="results/tables/{experiment}/ablations.md",
        tex="results/tables/{experiment}/ablations.tex",
    log:
        "results/logs/tables/tabulate_ablations/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_ablations/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_ablations"),
        compared=lookup(dpath="evaluation/compared", within=config),
        measures=lookup(dpath="evaluation/measures", within=config),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_ablations.py"


rule tabulate_errors:
    """Count what went before the wrong answers: passages retrieved, other answers proposed."""
    input:
        take.each("results/{collection}/{system}/evaluation/errors.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/errors.csv",
            caption="../report/errors.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "errors"},
        ),
        md="results/tables/{experiment}/errors.md",
        tex="results/tables/{experiment}/errors.tex",
    log:
        "results/logs/tables/tabulate_errors/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_errors/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_errors"),
        run=lookup(dpath="confidence/answers", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_errors.py"


rule tabulate_cost:
    """Set side by side what passes and runs cost."""
    input:
        take.each("results/{collection}/{system}/evaluation/cost.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/cost.csv",
            caption="../report/cost.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "cost"},
        ),
        md="results/tables/{experiment}/cost.md",
        tex="results/tables/{experiment}/cost.tex",
    log:
        "results/logs/tables/tabulate_cost/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_cost/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_cost"),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_cost.py"


rule tabulate_confidence:
    """Set fitted confidence beside the studied rule's, what was filed, a judge's and baselines, on the same answers."""
    input:
        answers=take.each("results/{collection}/{system}/evaluation/answers.csv"),
        signals=take.each("results/{collection}/{system}/confidence/signals.csv"),
        folds=take.each("results/{collection}/{system}/confidence/folds.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/confidence.csv",
            caption="../report/confidence.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "confidence"},
        ),
        md="results/tables/{experiment}/confidence.md",
        tex="results/tables/{experiment}/confidence.tex",
    log:
        "results/logs/tables/tabulate_confidence/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_confidence/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_confidence"),
        study=lookup(dpath="confidence", within=config),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_confidence.py"


rule tabulate_permuted:
    """Set confidence fitted on permuted labels beside that fitted on true ones."""
    input:
        take.each("results/{collection}/{system}/confidence/permuted.csv"),
    output:
        csv=report(
            "results/tables/{experiment}/permuted.csv",
            caption="../report/permuted.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "permuted labels"},
        ),
        md="results/tables/{experiment}/permuted.md",
        tex="results/tables/{experiment}/permuted.tex",
    log:
        "results/logs/tables/tabulate_permuted/{experiment}.log",
    benchmark:
        "results/benchmarks/tables/tabulate_permuted/{experiment}.tsv"
    params:
        code=fingerprint("tabulate_permuted"),
        fitted=lookup(dpath="confidence/fitted", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/tabulate_permuted.py"
