"""How well can the record of a run say whether its answer is right?

Needs     traces, answer runs, labels of their answers
Makes     results/{collection}/{system}/confidence/: signals.csv, a row an answer and a column a signal;
          signal_scores.csv, a row a signal: how well it tells right answers from wrong ones;
          folds.csv, fits.csv, weights.csv, how confidence was fitted on the signals; permuted.csv, what permuted labels find
          results/{collection}/{system}/runs/fitted.jsonl: the studied run with fitted confidences
          results/tables/{experiment}/transfer.csv, transfer.md: fitted on one collection, filed for another
Steps     extract_signals, then score_signals, fit_confidence and permute_labels; transfer_confidence last
"""


rule extract_signals:
    """Take the signals of the studied run's answers from the record of their passes."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
        answers="results/{collection}/{system}/runs/answers.jsonl",
        again=take.asked_again,
        labels="results/{collection}/{system}/evaluation/labels.jsonl",
    output:
        "results/{collection}/{system}/confidence/signals.csv",
    log:
        "results/logs/confidence/extract_signals/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/confidence/extract_signals/{collection}/{system}.tsv"
    params:
        code=fingerprint("extract_signals"),
        asked=take.asked,
        run=lookup(dpath="confidence/answers", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/extract_signals.py"


rule score_signals:
    """Measure how well each signal tells right answers from wrong ones."""
    input:
        "results/{collection}/{system}/confidence/signals.csv",
    output:
        "results/{collection}/{system}/confidence/signal_scores.csv",
    log:
        "results/logs/confidence/score_signals/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/confidence/score_signals/{collection}/{system}.tsv"
    params:
        code=fingerprint("score_signals"),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/score_signals.py"


rule fit_confidence:
    """Fit the confidence of the studied run's answers on their signals, held out by question."""
    input:
        answers="results/{collection}/{system}/runs/answers.jsonl",
        signals="results/{collection}/{system}/confidence/signals.csv",
    output:
        runs="results/{collection}/{system}/runs/fitted.jsonl",
        folds="results/{collection}/{system}/confidence/folds.csv",
        fits="results/{collection}/{system}/confidence/fits.csv",
        weights="results/{collection}/{system}/confidence/weights.csv",
    log:
        "results/logs/confidence/fit_confidence/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/confidence/fit_confidence/{collection}/{system}.tsv"
    params:
        code=fingerprint("fit_confidence"),
        run=lookup(dpath="confidence/answers", within=config),
        fitted=lookup(dpath="confidence/fitted", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/fit_confidence.py"


rule permute_labels:
    """Fit confidence on permuted labels, which must find nothing."""
    input:
        "results/{collection}/{system}/confidence/signals.csv",
    output:
        "results/{collection}/{system}/confidence/permuted.csv",
    log:
        "results/logs/confidence/permute_labels/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/confidence/permute_labels/{collection}/{system}.tsv"
    params:
        code=fingerprint("permute_labels"),
        fitted=lookup(dpath="confidence/fitted", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/permute_labels.py"


rule transfer_confidence:
    """Fit confidence on each collection of an experiment and file it for the answers of each other one."""
    input:
        signals=take.each("results/{collection}/{system}/confidence/signals.csv"),
        fitted=take.each("results/{collection}/{system}/runs/fitted.jsonl"),
    output:
        csv=report(
            "results/tables/{experiment}/transfer.csv",
            caption="../report/transfer.rst",
            category="Tables",
            subcategory="{experiment}",
            labels={"table": "confidence fitted on another collection"},
        ),
        md="results/tables/{experiment}/transfer.md",
        tex="results/tables/{experiment}/transfer.tex",
    log:
        "results/logs/confidence/transfer_confidence/{experiment}.log",
    benchmark:
        "results/benchmarks/confidence/transfer_confidence/{experiment}.tsv"
    params:
        code=fingerprint("transfer_confidence"),
        collections=take.chosen("collections"),
        systems=take.chosen("systems"),
        fitted=lookup(dpath="confidence/fitted", within=config),
        bootstrap=lookup(dpath="evaluation/bootstrap", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/transfer_confidence.py"
