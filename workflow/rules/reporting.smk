"""What did each system do on each question, and which settings made these results?

Needs     traces, runs, tables
Makes     results/{collection}/{system}/pages/index.html, the traces to be read, a page a question;
          results/tables/{experiment}/index.html, an experiment's results to be read;
          results/{collection}/{system}/exports/{format}/, traces as other tools read them; results/run_config.yaml;
          `snakemake --report results/report.html` binds tables and figures with their captions
Steps     the rules are independent; `tables` asks for all that reporting.experiments names
"""


rule export_traces:
    """Write what a system did in a format that other tools read: r2c2, trec_hops, trec_rag, on demand inspect_ai."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.arrow",
        traces=take.all_passes,
        passage_runs=take.passage_runs,
        runs=take.answer_files,
        labels="results/{collection}/{system}/evaluation/labels.jsonl",
    output:
        directory("results/{collection}/{system}/exports/{format}"),
    log:
        "results/logs/reporting/export_traces/{collection}/{system}/{format}.log",
    benchmark:
        "results/benchmarks/reporting/export_traces/{collection}/{system}/{format}.tsv"
    params:
        code=fingerprint("export_traces"),
        asked=take.asked,
        team=lookup(dpath="reporting/team", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/export_traces.py"


rule write_trace_pages:
    """Show what a system did on each question: an index and a page a question, to be opened from the disk."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.arrow",
        qrels="results/{collection}/corpus/qrels.txt",
        traces=take.all_passes,
        runs="results/{collection}/{system}/runs/answers.jsonl",
        labels="results/{collection}/{system}/evaluation/labels.jsonl",
        templates=sorted((BASE / "workflow/src/calibrag/reporting/templates").glob("[a-z]*.*")),
    output:
        directory("results/{collection}/{system}/pages"),
    log:
        "results/logs/reporting/write_trace_pages/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/reporting/write_trace_pages/{collection}/{system}.tsv"
    params:
        code=fingerprint("write_trace_pages"),
        asked=take.asked,
        verified_entailment=lookup(dpath="systems/{system}/verified_entailment", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/write_trace_pages.py"


rule write_results_page:
    """Put the tables and figures of an experiment on one page, with what they say in sentences."""
    input:
        tables=take.page_tables,
        readable=take.page_readable,
        figures=take.page_figures,
        pages=take.page_traces,
        templates=sorted((BASE / "workflow/src/calibrag/reporting/templates/results").glob("*.*")),
        common=[
            BASE / "workflow/src/calibrag/reporting/templates/frame.html",
            BASE / "workflow/src/calibrag/reporting/templates/pages.css",
        ],
    output:
        "results/tables/{experiment}/index.html",
    log:
        "results/logs/reporting/write_results_page/{experiment}.log",
    benchmark:
        "results/benchmarks/reporting/write_results_page/{experiment}.tsv"
    params:
        code=fingerprint("write_results_page"),
        facts=take.facts,
        measures=lookup(dpath="evaluation/measures", within=config),
        studied=lookup(dpath="confidence/answers", within=config),
        digits=lookup(dpath="reporting/digits", within=config),
    threads: 1
    resources:
        mem_mb=700,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/write_results_page.py"


rule tables:
    """Make the tables, figures, trace pages and exports of the reported experiments."""
    input:
        take.reported,


rule write_run_config:
    """Write the resolved configuration beside the results, with versions and the git revision."""
    input:
        take.reported,
        requirements=BASE / "requirements.in",
    output:
        "results/run_config.yaml",
    log:
        "results/logs/reporting/write_run_config.log",
    benchmark:
        "results/benchmarks/reporting/write_run_config.tsv"
    params:
        code=fingerprint("write_run_config"),
        config=config,
    threads: 1
    resources:
        mem_mb=200,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/write_run_config.py"
