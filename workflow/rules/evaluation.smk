"""How good is each ranking, passage run and answer run, question by question?

Needs     questions, qrels, rankings, runs
Makes     results/{collection}/evaluation/rankings/{experiment}.csv and results/{collection}/{system}/evaluation/
          passages.csv, answers.csv, length.csv, errors.csv: one row a question; reader.csv: one row a choice; graph.csv:
          one row a run; cost.csv: one row a pass;
          results/{collection}/evaluation/published/{experiment}.csv, where others published a ranking
Steps     the rules are independent; `snakemake --cores 2 results/film/bitem-no-dense/evaluation/answers.csv`
          runs one ablation and nothing else
"""


rule score_retrieval:
    """Measure the rankings of an experiment's retrievers on each question."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        qrels="results/{collection}/corpus/qrels.txt",
        rankings=take.each("results/{collection}/retrieval/rankings/{retriever}.tsv.gz"),
    output:
        "results/{collection}/evaluation/rankings/{experiment}.csv",
    log:
        "results/logs/evaluation/score_retrieval/{collection}/{experiment}.log",
    benchmark:
        "results/benchmarks/evaluation/score_retrieval/{collection}/{experiment}.tsv"
    params:
        code=fingerprint("score_retrieval"),
        retrievers=take.chosen("retrievers"),
        measures=lookup(dpath="evaluation/measures", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/score_retrieval.py"


rule compare_published:
    """Measure an experiment's rankings as those who published theirs measured them."""
    input:
        asked=lookup(dpath="collections/{collection}/questions/path", within=config),
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.parquet",
        theirs=lookup(dpath="published/{collection}/ranking", within=config),
        means=lookup(dpath="published/{collection}/means", within=config),
        ours=take.each("results/{collection}/retrieval/rankings/{retriever}.tsv.gz"),
    output:
        "results/{collection}/evaluation/published/{experiment}.csv",
    log:
        "results/logs/evaluation/compare_published/{collection}/{experiment}.log",
    benchmark:
        "results/benchmarks/evaluation/compare_published/{collection}/{experiment}.tsv"
    params:
        code=fingerprint("compare_published"),
        retrievers=take.chosen("retrievers"),
        published=lookup(dpath="published/{collection}", within=config),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/compare_published.py"


rule score_passage_runs:
    """Measure PG-1 and PG-2 on each question."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        qrels="results/{collection}/corpus/qrels.txt",
        runs=multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
    output:
        "results/{collection}/{system}/evaluation/passages.csv",
    log:
        "results/logs/evaluation/score_passage_runs/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/score_passage_runs/{collection}/{system}.tsv"
    params:
        code=fingerprint("score_passage_runs"),
        asked=take.asked,
        measures=lookup(dpath="evaluation/measures", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.own,
    script:
        "../scripts/score_passage_runs.py"


rule score_external_passages:
    """Measure the passage runs of others on each question."""
    input:
        files=take.external_runs,
        questions="results/{collection}/collections/questions.jsonl",
        qrels="results/{collection}/corpus/qrels.txt",
    output:
        "results/{collection}/external/evaluation/passages.csv",
    log:
        "results/logs/evaluation/score_external_passages/{collection}.log",
    benchmark:
        "results/benchmarks/evaluation/score_external_passages/{collection}.tsv"
    params:
        code=fingerprint("score_external_passages"),
        measures=lookup(dpath="evaluation/measures", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        collection=take.own["collection"],
    script:
        "../scripts/score_external_passages.py"


rule control_list_length:
    """Measure PG-1 and PG-2 as filed and at one length, PG-2 cut and PG-1 padded."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        qrels="results/{collection}/corpus/qrels.txt",
        runs=multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
        deeper="results/{collection}/{system}/runs/deeper.jsonl",
    output:
        "results/{collection}/{system}/evaluation/length.csv",
    log:
        "results/logs/evaluation/control_list_length/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/control_list_length/{collection}/{system}.tsv"
    params:
        code=fingerprint("control_list_length"),
        asked=take.asked,
        measures=lookup(dpath="evaluation/measures", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/control_list_length.py"


rule label_answers:
    """Say of every answer that a pass or a run gives whether it is right, and which source decided."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
        runs=take.labelled_files,
        reviewed=take.reviewed,
        judged=take.judged,
        logged=take.verdicts,
    output:
        labels="results/{collection}/{system}/evaluation/labels.jsonl",
        undecided="results/{collection}/{system}/evaluation/undecided.csv",
        conflicts="results/{collection}/{system}/evaluation/conflicts.csv",
        counts="results/{collection}/{system}/evaluation/label_counts.csv",
    log:
        "results/logs/evaluation/label_answers/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/label_answers/{collection}/{system}.tsv"
    params:
        code=fingerprint("label_answers"),
        asked=take.asked,
        near=lookup(dpath="evaluation/labels/near", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/label_answers.py"


rule judge_answers:
    """Ask a chat model about the answers that no match decides and no person has reviewed."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
        runs=take.labelled_files,
        reviewed=take.reviewed,
        prompt=take.judging,
    output:
        "results/{collection}/{system}/evaluation/judged.jsonl",
    log:
        "results/logs/evaluation/judge_answers/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/judge_answers/{collection}/{system}.tsv"
    params:
        code=fingerprint("judge_answers"),
        asked=take.asked,
        near=lookup(dpath="evaluation/labels/near", within=config),
        chat=lookup(dpath="models/chat", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/judge_answers.py"


rule score_answer_runs:
    """Set out all answer runs by question: which answers are right, and what part of their nuggets is relevant."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        qrels=take.qrels,
        traces=take.all_passes,
        runs=take.answer_files,
        labels="results/{collection}/{system}/evaluation/labels.jsonl",
    output:
        "results/{collection}/{system}/evaluation/answers.csv",
    log:
        "results/logs/evaluation/score_answer_runs/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/score_answer_runs/{collection}/{system}.tsv"
    params:
        code=fingerprint("score_answer_runs"),
        asked=take.asked,
        baselines_of=lookup(dpath="runs/baselines_of", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/score_answer_runs.py"


rule compare_ablation:
    """Compare a system with the one that it starts from, on the same questions."""
    input:
        passages="results/{collection}/{system}/evaluation/passages.csv",
        answers="results/{collection}/{system}/evaluation/answers.csv",
        base_passages=take.of_base("passages"),
        base_answers=take.of_base("answers"),
    output:
        "results/{collection}/{system}/evaluation/ablation.csv",
    log:
        "results/logs/evaluation/compare_ablation/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/compare_ablation/{collection}/{system}.tsv"
    params:
        code=fingerprint("compare_ablation"),
        base=take.base_system,
        measures=lookup(dpath="evaluation/measures", within=config),
        no_relevant=lookup(dpath="evaluation/no_relevant", within=config),
        compared=lookup(dpath="evaluation/compared", within=config),
        missing=lookup(dpath="evaluation/missing", within=config),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        significance=lookup(dpath="evaluation/significance", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.own,
    script:
        "../scripts/compare_ablation.py"


rule score_reader:
    """Judge the reader beside the first, a random and the best candidate, on passages read and on gold ones."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        read="results/{collection}/{system}/reader/read.jsonl",
        gold="results/{collection}/{system}/reader/gold.jsonl",
    output:
        "results/{collection}/{system}/evaluation/reader.csv",
    log:
        "results/logs/evaluation/score_reader/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/score_reader/{collection}/{system}.tsv"
    params:
        code=fingerprint("score_reader"),
        asked=take.asked,
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/score_reader.py"


rule report_graph:
    """Count the searches that matched the co-occurrence graph, and its passages that were filed."""
    input:
        traces=take.all_passes,
        runs=multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
    output:
        "results/{collection}/{system}/evaluation/graph.csv",
    log:
        "results/logs/evaluation/report_graph/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/report_graph/{collection}/{system}.tsv"
    params:
        code=fingerprint("report_graph"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/report_graph.py"


rule list_errors:
    """Say what went before each answer of the studied run: passages retrieved, other answers proposed."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
        answers="results/{collection}/{system}/runs/answers.jsonl",
        labels="results/{collection}/{system}/evaluation/labels.jsonl",
        qrels=take.qrels,
    output:
        "results/{collection}/{system}/evaluation/errors.csv",
    log:
        "results/logs/evaluation/list_errors/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/list_errors/{collection}/{system}.tsv"
    params:
        code=fingerprint("list_errors"),
        asked=take.asked,
        run=lookup(dpath="confidence/answers", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/list_errors.py"


rule measure_cost:
    """Measure what the passes of a system cost: calls, tokens, searches, seconds."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
    output:
        "results/{collection}/{system}/evaluation/cost.csv",
    log:
        "results/logs/evaluation/measure_cost/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/evaluation/measure_cost/{collection}/{system}.tsv"
    params:
        code=fingerprint("measure_cost"),
        asked=take.asked,
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/measure_cost.py"
