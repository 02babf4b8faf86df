"""What came out, at a glance?

Needs     the tables of an experiment, and measures by question
Makes     results/figures/{experiment}/*.svg and *.png
Steps     one rule a figure
"""


rule draw_accuracy_hmr:
    """Draw accuracy against HMR for all answer runs, with curves of equal accHMR."""
    input:
        "results/tables/{experiment}/answer_runs.csv",
    output:
        svg=report(
            "results/figures/{experiment}/accuracy_hmr.svg",
            caption="../report/accuracy_hmr.rst",
            category="Figures",
            subcategory="{experiment}",
            labels={"figure": "accuracy and HMR"},
        ),
        png="results/figures/{experiment}/accuracy_hmr.png",
    log:
        "results/logs/figures/draw_accuracy_hmr/{experiment}.log",
    benchmark:
        "results/benchmarks/figures/draw_accuracy_hmr/{experiment}.tsv"
    params:
        code=fingerprint("draw_accuracy_hmr"),
        arrows=lookup(dpath="reporting/figures/arrows", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/draw_accuracy_hmr.py"


rule draw_reliability:
    """Draw the accuracy of answers against their confidence, by bins of confidence."""
    input:
        take.each("results/{collection}/{system}/evaluation/answers.csv"),
    output:
        svg=report(
            "results/figures/{experiment}/reliability.svg",
            caption="../report/reliability.rst",
            category="Figures",
            subcategory="{experiment}",
            labels={"figure": "reliability"},
        ),
        png="results/figures/{experiment}/reliability.png",
    log:
        "results/logs/figures/draw_reliability/{experiment}.log",
    benchmark:
        "results/benchmarks/figures/draw_reliability/{experiment}.tsv"
    params:
        code=fingerprint("draw_reliability"),
        runs=lookup(dpath="reporting/figures/runs", within=config),
        bins=lookup(dpath="reporting/figures/bins", within=config),
        binning=lookup(dpath="reporting/figures/binning", within=config),
        missing=lookup(dpath="evaluation/missing", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/draw_reliability.py"


rule draw_risk_coverage:
    """Draw the share of wrong answers among the surest, against how many are kept."""
    input:
        take.each("results/{collection}/{system}/evaluation/answers.csv"),
    output:
        svg=report(
            "results/figures/{experiment}/risk_coverage.svg",
            caption="../report/risk_coverage.rst",
            category="Figures",
            subcategory="{experiment}",
            labels={"figure": "risk and coverage"},
        ),
        png="results/figures/{experiment}/risk_coverage.png",
    log:
        "results/logs/figures/draw_risk_coverage/{experiment}.log",
    benchmark:
        "results/benchmarks/figures/draw_risk_coverage/{experiment}.tsv"
    params:
        code=fingerprint("draw_risk_coverage"),
        runs=lookup(dpath="reporting/figures/runs", within=config),
        missing=lookup(dpath="evaluation/missing", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/draw_risk_coverage.py"


rule draw_signal_auroc:
    """Draw how well each signal tells right answers from wrong ones, with intervals."""
    input:
        "results/tables/{experiment}/signals.csv",
    output:
        svg=report(
            "results/figures/{experiment}/signal_auroc.svg",
            caption="../report/signal_auroc.rst",
            category="Figures",
            subcategory="{experiment}",
            labels={"figure": "AUROC of signals"},
        ),
        png="results/figures/{experiment}/signal_auroc.png",
    log:
        "results/logs/figures/draw_signal_auroc/{experiment}.log",
    benchmark:
        "results/benchmarks/figures/draw_signal_auroc/{experiment}.tsv"
    params:
        code=fingerprint("draw_signal_auroc"),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/draw_signal_auroc.py"


rule draw_type_bars:
    """Draw the differences between two runs by type of question."""
    input:
        take.type_tables,
    output:
        svg=report(
            "results/figures/{experiment}/type_bars.svg",
            caption="../report/type_bars.rst",
            category="Figures",
            subcategory="{experiment}",
            labels={"figure": "differences by type"},
        ),
        png="results/figures/{experiment}/type_bars.png",
    log:
        "results/logs/figures/draw_type_bars/{experiment}.log",
    benchmark:
        "results/benchmarks/figures/draw_type_bars/{experiment}.tsv"
    params:
        code=fingerprint("draw_type_bars"),
        measures=lookup(dpath="reporting/figures/types", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/draw_type_bars.py"
