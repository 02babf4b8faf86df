"""How well can the record of a run say whether its answer is right?

Needs     traces, answer runs, labels of their answers
Makes     results/{collection}/{system}/confidence/: signals.csv, a row an answer and a column a signal;
          signal_scores.csv, a row a signal: how well it tells right answers from wrong ones
Steps     extract_signals, then score_signals
"""


rule extract_signals:
    """Take the signals of the studied run's answers from the record of their passes."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
        answers="results/{collection}/{system}/runs/answers.jsonl",
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
