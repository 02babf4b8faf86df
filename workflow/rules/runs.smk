"""Which passages, answers and confidences are filed?

Needs     the traces of all passes of a system, or of an import
Makes     results/{collection}/{system}/runs/: PG-1.txt and PG-2.txt (TREC runs; not of imports), answers.jsonl: all runs of
          `runs.answers`, an entry a run and question; deeper.jsonl, what the searches behind a short PG-1 find further down
Steps     select_passage_runs, then search_deeper, and select_answer_runs, whose nuggets cite the passages filed; before it
          match_answers, where `runs.same_answers` asks for entailment
"""


rule match_answers:
    """Find the answers to a question that entail each other and so count as one."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        traces=take.all_passes,
        verifier=take.verifier,
    output:
        "results/{collection}/{system}/runs/same_answers.jsonl",
    log:
        "results/logs/runs/match_answers/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/match_answers/{collection}/{system}.tsv"
    params:
        code=fingerprint("match_answers"),
        asked=take.asked,
        models=take.models("device", "verifier"),
        threshold=lookup(dpath="runs/same_answers/threshold", within=config),
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/match_answers.py"


rule select_passage_runs:
    """File the passages of the first pass (PG-1) and of the passes that agree on an answer (PG-2)."""
    input:
        traces=take.all_passes,
        same=take.same_answers,
    output:
        multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
    log:
        "results/logs/runs/select_passage_runs/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/select_passage_runs/{collection}/{system}.tsv"
    params:
        code=fingerprint("select_passage_runs"),
        length=lookup(dpath="evaluation/passages_filed", within=config),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    script:
        "../scripts/select_passage_runs.py"


rule search_deeper:
    """Search on for the queries of first passes whose PG-1 is shorter than PG-2; often there are none."""
    input:
        traces=take.first_pass,
        runs=multiext("results/{collection}/{system}/runs/", "PG-1.txt", "PG-2.txt"),
        passages="results/{collection}/corpus/passages.arrow",
        sparse=take.sparse,
        dense=take.dense,
        vectors=take.vectors,
        graph=take.graph,
        adapter=take.reranker_of,
    output:
        "results/{collection}/{system}/runs/deeper.jsonl",
    log:
        "results/logs/runs/search_deeper/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/search_deeper/{collection}/{system}.tsv"
    params:
        code=fingerprint("search_deeper"),
        filed=lookup(dpath="evaluation/passages_filed", within=config),
        retriever=lookup(dpath="systems/{system}/retriever", within=config),
        models=take.search_models,
    threads: 1
    resources:
        mem_mb=1500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.own,
    script:
        "../scripts/search_deeper.py"


rule ask_again:
    """Ask the model again about the answers of a run: how sure it is, and what it answers from the nuggets alone."""
    input:
        questions="results/{collection}/collections/questions.jsonl",
        passages="results/{collection}/corpus/passages.arrow",
        answers="results/{collection}/{system}/runs/answers.jsonl",
        passage_runs=take.passage_runs,
        reader=take.reader_of,
        prompts=take.asked_prompts,
    output:
        "results/{collection}/{system}/runs/asked.jsonl",
    log:
        "results/logs/runs/ask_again/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/ask_again/{collection}/{system}.tsv"
    params:
        code=fingerprint("ask_again"),
        asked=take.asked,
        models=take.asked_models,
        settings=take.asked_settings,
    threads: 1
    resources:
        mem_mb=2500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        **take.own,
    script:
        "../scripts/ask_again.py"


rule read_external_answers:
    """Read the answer runs of others on a collection."""
    input:
        files=take.external_runs,
        questions="results/{collection}/collections/questions.jsonl",
    output:
        "results/{collection}/external/runs/answers.jsonl",
    log:
        "results/logs/runs/read_external_answers/{collection}.log",
    benchmark:
        "results/benchmarks/runs/read_external_answers/{collection}.tsv"
    params:
        code=fingerprint("read_external_answers"),
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        collection=take.own["collection"],
    script:
        "../scripts/read_external_answers.py"


rule select_answer_runs:
    """File answers with confidence and nuggets, by each rule of runs.answers."""
    input:
        traces=take.all_passes,
        same=take.same_answers,
        passage_runs=take.passage_runs,
    output:
        "results/{collection}/{system}/runs/answers.jsonl",
    log:
        "results/logs/runs/select_answer_runs/{collection}/{system}.log",
    benchmark:
        "results/benchmarks/runs/select_answer_runs/{collection}/{system}.tsv"
    params:
        code=fingerprint("select_answer_runs"),
        rules=take.answer_rules,
    threads: 1
    resources:
        mem_mb=500,
    conda:
        "../../envs/base.yaml"
    wildcard_constraints:
        system=take.traced,
    script:
        "../scripts/select_answer_runs.py"
