"""Which files an experiment makes and takes, by the configuration: functions of a rule's wildcards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path, PurePath
from typing import Any

from calibrag.configuration import nearest
from calibrag.errors import CalibragError, ConfigError
from calibrag.evaluation.answer_measures import RANKED_BY, parse_measures
from calibrag.runs.names import CAPPED, JUDGE, fitted_runs

TABLE = "results/tables/{experiment}/{table}.{kind}"
RESULTS = "results/tables/{experiment}/index.html"
PAGES = "results/{collection}/{system}/pages"
ABLATION = "results/{collection}/{system}/evaluation/ablation.csv"
SCORES = "results/{collection}/{system}/evaluation/{name}.csv"
PUBLISHED = "results/{collection}/evaluation/published/{experiment}.csv"

IMPORTED = "imported"
"""The name of the system in results/{import}/, where a collection has the names of its systems."""

EXTERNAL = "external"
"""The same for the runs of others on a collection of ours."""

MODEL_OF_POLICY = {"reader": "reader", "llm": "chat"}
"""The model that a policy asks, a part of the block ``models``."""

TABLES = ("collections", "names", "models")
"""Tables of every experiment on collections of our own."""

RETRIEVAL_TABLES = ("retrieval", "significance")
"""Tables of an experiment with retrievers."""

VERIFIER = "results/tables/models/verifier.csv"
"""The table of the verifier's quality, which no experiment changes."""

RUN_TABLES = ("passage_runs", "passage_significance", "passage_types", "length")
"""Tables of an experiment with systems of our own; with those of the policy reader alone, also that of the reader."""

ANSWER_TABLES = (
    "answer_runs", "answer_significance", "answer_types", "signals", "confidence", "permuted", "labels", "errors",
    "cost",
)  # fmt: skip
"""Tables of an experiment with systems, our own or imported; with several collections also that of transfer."""

TYPE_TABLES = ("passage_types", "answer_types")
"""Those of them that compare two runs by type of question."""

FIGURES = ("accuracy_hmr", "reliability", "risk_coverage", "signal_auroc", "type_bars")
"""Figures of an experiment with systems."""


class Experiments:
    """The files of experiments, by the resolved configuration."""

    def __init__(self, config: Mapping[str, Any]):
        models = config["models"]
        self._config = config
        self._encoders = {"reranker": models["reranker"], "verifier": models["verifier"]["encoder"]}

    def chosen(self, kind: str) -> Callable[[Any], list[str]]:
        """Return a function of the wildcards: the names of a kind that the experiment takes, in its order."""

        def names(wildcards) -> list[str]:
            return self._config["experiments"][wildcards.experiment][kind]

        return names

    def each(self, pattern: str) -> Callable[[Any], list[str]]:
        """Return a function of the wildcards: the files of a pattern, the names that the wildcards leave open being all
        collections, retrievers and systems of the experiment."""

        def files(wildcards) -> list[str]:
            experiment = self._config["experiments"][wildcards.experiment]
            given = dict(wildcards.items())
            left = {kind.removesuffix("s"): names for kind, names in experiment.items()}
            left = {name: left[name] for name in left if name not in given and f"{{{name}}}" in pattern}
            chosen = (dict(zip(left, names, strict=True)) for names in product(*left.values()))
            return [pattern.format(**given, **names) for names in chosen]

        return files

    def scores(self, name: str) -> Callable[[Any], list[str]]:
        """Return a function of the wildcards: the scores of an experiment's systems, and of the runs of others.

        ``name`` is ``passages`` or ``answers``.
        """

        def files(wildcards) -> list[str]:
            collections = self._config["experiments"][wildcards.experiment]["collections"]
            others = [one for one in collections if self.external_files(one)]
            named = {"system": EXTERNAL, "name": name}
            ours = self.each("results/{collection}/{system}/evaluation/" + f"{name}.csv")(wildcards)
            return [*ours, *(SCORES.format(collection=one, **named) for one in others)]

        return files

    def external_files(self, collection: str) -> list[str]:
        """Return the files of the runs of others on a collection of ours; none where there is no folder of its name."""
        folder = self._config["evaluation"]["external_runs"]
        if folder is None or collection not in self._config["collections"]:
            return []
        return sorted(str(path) for path in Path(folder, collection).glob("*") if path.is_file())

    def ablations(self, wildcards) -> list[str]:
        """Return the comparisons of an experiment's systems with those that they start from, where it has both."""
        experiment = self._config["experiments"][wildcards.experiment]
        pairs = product(experiment["collections"], self._ablated(experiment["systems"]))
        if not (files := [ABLATION.format(collection=collection, system=system) for collection, system in pairs]):
            raise ConfigError(f"experiments.{wildcards.experiment}.systems", "must hold a system with its base")
        return files

    def published(self, wildcards) -> list[str]:
        """Return the comparisons with published rankings, one for each collection of the experiment that has some."""
        known = self._config["published"]
        chosen = [name for name in self.chosen("collections")(wildcards) if name in known]
        if not chosen:
            problem = f"holds no collection of experiments.{wildcards.experiment} (has {', '.join(known)})"
            raise ConfigError("published", problem)
        return [PUBLISHED.format(collection=name, experiment=wildcards.experiment) for name in chosen]

    def type_tables(self, wildcards) -> list[str]:
        """Return the tables of an experiment that compare two runs by type of question."""
        return [path for path in self.page_tables(wildcards) if PurePath(path).stem in TYPE_TABLES]

    def page_tables(self, wildcards) -> list[str]:
        """Return the tables of an experiment."""
        return self._table_files(wildcards.experiment, "csv")

    def page_readable(self, wildcards) -> list[str]:
        """Return the tables of an experiment as they are read."""
        return [path for kind in ("md", "tex") for path in self._table_files(wildcards.experiment, kind)]

    def page_figures(self, wildcards) -> list[str]:
        """Return the figures of an experiment."""
        return self._figures(wildcards.experiment)

    def page_traces(self, wildcards) -> list[str]:
        """Return the trace pages of an experiment's own systems."""
        return [PAGES.format(collection=name, system=system) for name, system in self._own(wildcards.experiment)]

    def facts(self, wildcards) -> dict[str, list[str]]:
        """Return what an experiment runs, for the head of its page: heading -> names."""
        models = self.models_used(wildcards)
        return describe_experiment(self._config, wildcards.experiment) | {
            "models": [f"{part} {model}" for part, model in models.items()]
        }

    def models_used(self, wildcards) -> dict[str, str]:
        """Return part -> the model that it uses, of what an experiment runs; nothing for one on imports."""
        own = {system for _, system in self._own(wildcards.experiment)}
        asked = {MODEL_OF_POLICY[self._config["systems"][system]["policy"]["name"]] for system in own}
        retrieves = asked or self._config["experiments"][wildcards.experiment]["retrievers"]
        parts = [*(["embedder", "reranker"] if retrieves else []), *(["verifier"] if asked else [])]
        return self.model_names(*parts) | {part: self._config["models"][part]["model"] for part in sorted(asked)}

    def reported(self, wildcards) -> list[str]:
        """Return what the reported experiments make: tables, figures, their page; trace pages and exports."""
        files, reporting = [VERIFIER], self._config["reporting"]
        for name in reporting["experiments"]:
            files += [*self._table_files(name, "csv"), *self._figures(name), RESULTS.format(experiment=name)]
            for collection, system in self._own(name):
                files.append(PAGES.format(collection=collection, system=system))
                files += [f"results/{collection}/{system}/exports/{kind}" for kind in reporting["exports"]]
        # two experiments may share a system
        return list(dict.fromkeys(files))

    def _own(self, experiment: str) -> list[tuple[str, str]]:
        """Return each collection with each system of ours."""
        block = self._config["experiments"][experiment]
        return [pair for pair in product(block["collections"], block["systems"]) if pair[1] != IMPORTED]

    def _figures(self, experiment: str) -> list[str]:
        systems = self._config["experiments"][experiment]["systems"]
        return [f"results/figures/{experiment}/{name}.svg" for name in FIGURES if systems]

    def _table_files(self, experiment: str, kind: str) -> list[str]:
        names = self._tables(self._config["experiments"][experiment])
        return [TABLE.format(experiment=experiment, table=name, kind=kind) for name in names]

    def _tables(self, experiment: Mapping[str, Any]) -> list[str]:
        systems = experiment["systems"]
        transfer = ("transfer",) if len(experiment["collections"]) > 1 else ()
        answers = (*ANSWER_TABLES, *transfer) if systems else ()
        if systems == [IMPORTED]:
            return list(answers)
        readers = systems and all(self._config["systems"][s]["policy"]["name"] == "reader" for s in systems)
        retrieval = RETRIEVAL_TABLES if experiment["retrievers"] else ()
        runs = (*RUN_TABLES, *answers, *(["reader"] if readers else ())) if systems else ()
        ablations = ("ablations",) if self._ablated(systems) else ()
        return [*TABLES, *retrieval, *runs, *ablations]

    def _ablated(self, systems: Sequence[str]) -> list[str]:
        """Return the systems that start from another of them."""
        bases = self._config["bases"]
        return [system for system in systems if bases.get(system) in systems]

    def model_names(self, *parts: str) -> dict[str, str]:
        """Return part -> the model that it uses, for captions."""
        models = self._config["models"]
        names = {part: encoder["adapter"] or encoder["base"] for part, encoder in self._encoders.items()}
        names |= {part: models[part]["model"] for part in ("embedder", "tagger", "reader")}
        return {part: names[part] for part in parts}


def describe_experiment(config: Mapping[str, Any], name: str) -> dict[str, list[str]]:
    """Return heading -> names: collections, systems, retrievers and seeds of an experiment."""
    experiment, evaluation = config["experiments"][name], config["evaluation"]
    seeds = {"bootstrap": evaluation["bootstrap"]["seed"], "tests": evaluation["significance"]["seed"]}
    if experiment["systems"]:
        seeds["folds"] = config["confidence"]["fitted"]["folds"]["seed"]
    return {
        **{kind: list(experiment[kind]) for kind in ("collections", "systems", "retrievers")},
        "models": [],
        "seeds": [f"{what} {seed}" for what, seed in seeds.items()],
    }


def check_runs(config: Mapping[str, Any]) -> None:
    """Raise ConfigError unless the answer runs that are compared and drawn are some that can be filed, and a run is
    compared with another.
    """
    known = [*config["runs"]["answers"], JUDGE, CAPPED, *fitted_runs(config["confidence"]["fitted"])]
    compared, figures = config["evaluation"]["compared"]["answers"], config["reporting"]["figures"]
    named = {f"evaluation.compared.answers.{key}": [compared[key]] for key in ("reference", "by_type")}
    named["confidence.compared"] = config["confidence"]["compared"]
    named["reporting.figures.runs"] = figures["runs"]
    named["reporting.figures.arrows"] = [run for arrow in figures["arrows"] for run in arrow]
    for kind, block in config["evaluation"]["compared"].items():
        if block["reference"] == block["by_type"]:
            problem = f"must be another run than {kind}.reference (got '{block['by_type']}' for both)"
            raise ConfigError(f"evaluation.compared.{kind}.by_type", problem)
    for key, runs in named.items():
        if unknown := [run for run in runs if run not in known]:
            raise ConfigError(key, f"unknown run '{unknown[0]}'; {nearest(unknown[0], known)}")


def check_measures(evaluation: Mapping[str, Any], drawn: Sequence[str]) -> None:
    """Raise ConfigError unless the measures of the block ``evaluation`` are known, and those drawn by type there."""
    compared = evaluation["compared"]["answers"]["measures"]
    for key, names in (("answer_measures", evaluation["answer_measures"]), ("compared.answers.measures", compared)):
        try:
            parse_measures(names)
        except CalibragError as error:
            raise ConfigError(f"evaluation.{key}", str(error)) from None
    if RANKED_BY not in evaluation["answer_measures"]:
        raise ConfigError("evaluation.answer_measures", f"must hold {RANKED_BY}, by which runs are ranked")
    known = [*evaluation["measures"], *compared]
    if unknown := [name for name in drawn if name not in known]:
        problem = f"tables by type do not have {', '.join(unknown)}; they have {', '.join(known)}"
        raise ConfigError("reporting.figures.types", problem)
