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
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/draw_accuracy_hmr.py"
