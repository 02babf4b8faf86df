"""Which files and names a job takes, where that follows from the configuration: functions of a rule's wildcards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from calibrag.errors import ConfigError
from calibrag.experiments import EXTERNAL, IMPORTED, MODEL_OF_POLICY, SCORES, Experiments, check_measures, check_runs

INDEX = {
    "tantivy": "results/{collection}/retrieval/sparse",
    "terrier": "results/{collection}/retrieval/terrier",
}
JUDGED = "results/{collection}/{system}/evaluation/judged.jsonl"
VERDICTS = "results/{collection}/{system}/labels.csv"
PASS = "results/{collection}/{system}/pass-{n}/{shard}/traces.jsonl"

FILED = ("answers", "fitted")
"""Files of results/{collection}/{system}/runs/ that hold answer runs."""

NAMED = ("collections", "retrievers", "systems", "experiments")
"""Blocks of the configuration whose names are wildcards of that name without its s."""


class Inputs(Experiments):
    """What jobs take, by the resolved configuration; and the files of experiments."""

    def __init__(self, config: Mapping[str, Any]):
        super().__init__(config)
        models = config["models"]
        check_runs(config)
        check_measures(config["evaluation"], config["reporting"]["figures"]["types"])
        # the wildcards of all rules, each with what it may be
        self.wildcards = {kind.removesuffix("s"): "|".join(config[kind]) for kind in NAMED}
        # for rules that make documents, questions and traces, of which imports have others
        self.own = {name: self.wildcards[name] for name in ("collection", "system")}
        self.imports = {"collection": "|".join(config["imports"]) or "(?!)"}
        self.wildcards["collection"] = "|".join([*config["collections"], *config["imports"]])
        # for rules of traces, of which the runs of others have none
        self.traced = f"{self.wildcards['system']}|{IMPORTED}"
        self.wildcards["system"] = f"{self.traced}|{EXTERNAL}"
        self.wildcards |= {kind: "|".join(config["indexes"][kind]) for kind in ("vectors", "dense")}
        self.wildcards |= {"adapter": "reranker|verifier", "format": "r2c2|trec_hops|trec_rag|inspect_ai"}
        self.wildcards |= {"shard": r"[1-9]\d*-of-[1-9]\d*", "n": r"[1-9]\d*"}
        self.reranker = _adapter(models["reranker"], "adapter.safetensors")
        verifier = [block for block in (models["verifier"]["encoder"], models["verifier"]["second"]) if block]
        self.verifier = [file for block in verifier for file in _adapter(block, "adapter.safetensors")]
        self.reader = _adapter(models["reader"], "adapter_model.safetensors", "adapter_config.json")

    def shards(self, pattern: str) -> Callable[[Any], list[str]]:
        """Return a function of the wildcards: the files of a pattern with ``{shard}``, one for each shard."""

        def files(wildcards) -> list[str]:
            count = self._config["collections"][wildcards.collection]["shards"]
            fixed = {name: value for name, value in wildcards.items() if name != "shard"}
            return [pattern.format(**fixed, shard=f"{number}-of-{count}") for number in range(1, count + 1)]

        return files

    def unsupported(self, wildcards) -> dict[str, Any] | None:
        """Return how the questions of a collection that lose their support are chosen; None where none does."""
        block = self._config["collections"][wildcards.collection]
        if block["unsupported"] is None:
            return None
        asked = {"format": block["questions"]["format"], "answered": block["answers"]}
        return block["unsupported"] | asked | {key: block[key] for key in ("split", "sample")}

    def questions_unsupported(self, wildcards) -> str | list[str]:
        """Return the files of a collection's questions where some lose their support; else none."""
        block = self._config["collections"][wildcards.collection]
        return block["questions"]["path"] if block["unsupported"] else []

    def sparse(self, wildcards) -> list[str]:
        """Return the sparse index that a retriever, or a system's, searches; none where it searches no words."""
        lexical = self._retriever(wildcards)["lexical"]
        return [INDEX[lexical["engine"]].format(collection=wildcards.collection)] if lexical else []

    def dense(self, wildcards) -> list[str]:
        """Return the files of the dense index that a retriever, or a system's, searches, if any."""
        dense = self._retriever(wildcards)["dense"]
        if not dense:
            return []
        folder = f"results/{wildcards.collection}/retrieval/dense/{dense['index']['name']}"
        return [f"{folder}/{name}" for name in ("index.faiss", "ids.txt", "calibrag.json")]

    def vectors(self, wildcards) -> list[str]:
        """Return the vectors, shard by shard, of a dense index, or of that of a retriever or a system."""
        if "dense" in wildcards.keys():
            index = wildcards.dense
        elif dense := self._retriever(wildcards)["dense"]:
            index = dense["index"]["name"]
        else:
            return []
        vectors = self._config["indexes"]["dense"][index]["vectors"]
        folder = f"results/{wildcards.collection}/retrieval/vectors/{vectors}"
        return self.shards(folder + "/{shard}.npy")(wildcards)

    def graph(self, wildcards) -> list[str]:
        """Return the files of the graph where a retriever, or a system's, searches it."""
        folder = f"results/{wildcards.collection}/retrieval/graph"
        names = ("nodes.parquet", "edges.parquet") if self._retriever(wildcards)["graph"] else ()
        return [f"{folder}/{name}" for name in names]

    def passage_embedder(self, wildcards) -> dict[str, Any]:
        """Return what of ``models.embedder`` decides about passages; the number format of queries does not."""
        embedder = self._config["models"]["embedder"]
        return {key: value for key, value in embedder.items() if key != "query_dtype"}

    def reranker_of(self, wildcards) -> list[str]:
        """Return the files of the reranker's adapter where a retriever, or a system's, reranks."""
        return self.reranker if self._retriever(wildcards)["rerank"] else []

    def search_models(self, wildcards) -> dict[str, Any]:
        """Return the blocks of ``models`` that a retriever, or a system's, uses."""
        retriever, models = self._retriever(wildcards), self._config["models"]
        parts = [part for part, stage in (("embedder", "dense"), ("reranker", "rerank")) if retriever[stage]]
        return {part: models[part] for part in ("device", *parts)}

    def _retriever(self, wildcards) -> Mapping[str, Any]:
        if "system" in wildcards.keys():
            return self._config["systems"][wildcards.system]["retriever"]
        return self._config["retrievers"][wildcards.retriever]

    def held_out(self, wildcards) -> list[str]:
        """Return the files of labelled claims that the verifier is measured on."""
        return [file["path"] for file in self._config["evaluation"]["verifier"]["held_out"]]

    def trained_on(self, wildcards) -> list[str]:
        """Return the file of the pairs whose claims are left out of that measurement; none where none is named."""
        path = self._config["evaluation"]["verifier"]["trained_on"]
        return [path] if path else []

    def source(self, wildcards) -> dict[str, Any]:
        """Return how the log of an import is read: its format, and how many passes are taken."""
        block = self._config["imports"][wildcards.collection]
        return {key: block[key] for key in ("format", "passes")}

    def earlier_passes(self, wildcards) -> list[str]:
        """Return the traces of the passes before this one, of the same questions."""
        return self._passes(wildcards, int(wildcards.n) - 1, [wildcards.shard])

    def first_pass(self, wildcards) -> list[str]:
        """Return the traces of a system's first pass."""
        return self._passes(wildcards, 1, self._question_shards(wildcards))

    def all_passes(self, wildcards) -> list[str]:
        """Return the traces of every pass of a system, or of an import; none of the runs of others."""
        if wildcards.system == EXTERNAL:
            return []
        if wildcards.system == IMPORTED:
            last = self._config["imports"][wildcards.collection]["passes"]
        else:
            last = self._config["systems"][wildcards.system]["passes"]["maximum"]
        return self._passes(wildcards, last, self._question_shards(wildcards))

    def passage_runs(self, wildcards) -> list[str]:
        """Return the passage runs of a system; none of an import."""
        names = () if wildcards.system == IMPORTED else ("PG-1", "PG-2")
        return [f"results/{wildcards.collection}/{wildcards.system}/runs/{name}.txt" for name in names]

    def answer_files(self, wildcards) -> list[str]:
        """Return the files of all answer runs of a system, or of an import."""
        folder = f"results/{wildcards.collection}/{wildcards.system}/runs"
        names = ("answers",) if wildcards.system == EXTERNAL else FILED
        return [*(f"{folder}/{name}.jsonl" for name in names), *self.asked_again(wildcards)]

    def asked_again(self, wildcards) -> list[str]:
        """Return the runs that ask the model again, of the systems for which it is asked."""
        asked = wildcards.system in self._config["runs"]["asked"]["systems"]
        return [f"results/{wildcards.collection}/{wildcards.system}/runs/asked.jsonl"] if asked else []

    def asked_models(self, wildcards) -> dict[str, Any]:
        """Return the settings of the models that are asked again about a system's answers."""
        asked = self._asked(wildcards)
        return self.models("device", "embedder", "reader") if asked == "reader" else self.models(asked)

    def asked_settings(self, wildcards) -> dict[str, Any]:
        """Return how the model is asked again; the reader takes no prompts."""
        settings = self._config["runs"]["asked"]
        left_out = {"systems"} | ({"prompts", "retries"} if self._asked(wildcards) == "reader" else set())
        return {key: value for key, value in settings.items() if key not in left_out}

    def asked_prompts(self, wildcards) -> list[str]:
        """Return the prompts with which a chat model is asked again; none for the reader."""
        prompts = self._config["runs"]["asked"]["prompts"]
        return [] if self._asked(wildcards) == "reader" else list(prompts.values())

    def labelled_files(self, wildcards) -> list[str]:
        """Return the files of the answer runs whose answers are labelled; fitted runs have the answers of another."""
        return [file for file in self.answer_files(wildcards) if PurePath(file).stem != "fitted"]

    def reviewed(self, wildcards) -> list[str]:
        """Return the file in which a person reviewed the answers of a collection, where there is one."""
        folder = self._config["evaluation"]["labels"]["review"]
        file = f"{folder}/{wildcards.collection}.csv"
        return [file] if folder and os.path.isfile(file) else []

    def judged(self, wildcards) -> list[str]:
        """Return what the chat model says of undecided answers, where it is asked."""
        return [JUDGED.format(**dict(wildcards.items()))] if self._config["evaluation"]["labels"]["judge"] else []

    def judging(self, wildcards) -> str:
        """Return the prompt with which the chat model is asked about answers."""
        prompt = self._config["evaluation"]["labels"]["judge"]
        if prompt is None:
            raise ConfigError("evaluation.labels.judge", "must be the path of a prompt for a judge (got null)")
        return prompt

    def verdicts(self, wildcards) -> list[str]:
        """Return what the log of an import says of its answers."""
        return [VERDICTS.format(**dict(wildcards.items()))] if wildcards.system == IMPORTED else []

    def external_runs(self, wildcards) -> list[str]:
        """Return the files of the runs of others on a collection."""
        if not (files := self.external_files(wildcards.collection)):
            folder = self._config["evaluation"]["external_runs"]
            raise ConfigError("evaluation.external_runs", f"must hold runs on {wildcards.collection} (got {folder})")
        return files

    def same_answers(self, wildcards) -> list[str]:
        """Return the file of the answers that say the same in other words, where that is looked at."""
        looked = self._config["runs"]["same_answers"]["by"] == "entailment"
        return [f"results/{wildcards.collection}/{wildcards.system}/runs/same_answers.jsonl"] if looked else []

    def answer_rules(self, wildcards) -> dict[str, Any]:
        """Return the settings of the rules that take answers from traces."""
        runs = self._config["runs"]
        return {key: runs[key] for key in ("answers", "baselines_of", "single_pass", "four_pass")}

    def qrels(self, wildcards) -> list[str]:
        """Return the judgements that nuggets are held against; none of an import, or of the runs of others."""
        if wildcards.system in (IMPORTED, EXTERNAL):
            return []
        return [f"results/{wildcards.collection}/corpus/qrels.txt"]

    def base_system(self, wildcards) -> str:
        """Return the system that a system starts from; raises ConfigError where it starts from none."""
        try:
            return self._config["bases"][wildcards.system]
        except KeyError:
            raise ConfigError(f"systems.{wildcards.system}", "extends no system to be compared with") from None

    def of_base(self, name: str) -> Callable[[Any], str]:
        """Return a function of the wildcards: a file of scores of the system that a system starts from."""

        def file(wildcards) -> str:
            return SCORES.format(collection=wildcards.collection, system=self.base_system(wildcards), name=name)

        return file

    def asked(self, wildcards) -> int | None:
        """Return how many of the questions a system is asked; None for all."""
        if wildcards.system in (IMPORTED, EXTERNAL):
            return None
        return self._config["systems"][wildcards.system]["questions"]

    def models_of_pass(self, wildcards) -> dict[str, Any]:
        """Return the settings of the models that a pass of a system uses; a change of others re-runs nothing."""
        asked = self._asked(wildcards)
        # the reader chooses sentences by the embedder
        parts = (asked, *(["embedder"] if asked == "reader" else []))
        models = {part: self._config["models"][part] for part in parts}
        return models | {"verifier": self._verifier(wildcards)} | self.search_models(wildcards)

    def verifier_of(self, wildcards) -> list[str]:
        """Return the files of the verifier's adapters that a system uses."""
        verifier = self._verifier(wildcards)
        blocks = [block for block in (verifier["encoder"], verifier["second"]) if block]
        return [file for block in blocks for file in _adapter(block, "adapter.safetensors")]

    def _verifier(self, wildcards) -> dict[str, Any]:
        verifier = self._config["models"]["verifier"]
        return verifier if self._config["systems"][wildcards.system]["cascade"] else verifier | {"second": None}

    def reader_of(self, wildcards) -> list[str]:
        """Return the reader's unpacked weights where a system's policy asks the reader."""
        return ["results/models/reader/unpacked"] if self._asked(wildcards) == "reader" else []

    def prompts(self, wildcards) -> list[str]:
        """Return the files of the prompts of a system's policy."""
        policy = self._config["systems"][wildcards.system]["policy"]
        if policy["name"] != "llm":
            return []
        return [path for path in (policy["prompt"], policy["types"]["prompt"]) if path]

    def execution(self, wildcards) -> dict[str, Any]:
        """Return how questions are run in a job; into how many jobs they are shared out changes no result."""
        return {key: value for key, value in self._config["execution"].items() if key != "shards"}

    def _asked(self, wildcards) -> str:
        return MODEL_OF_POLICY[self._config["systems"][wildcards.system]["policy"]["name"]]

    def base(self, wildcards) -> str:
        """Return the encoder below an adapter."""
        return self._encoders[wildcards.adapter]["base"]

    def encoder(self, wildcards) -> dict[str, Any]:
        """Return the settings of the cross-encoder that uses an adapter."""
        return self._encoders[wildcards.adapter]

    def adapter(self, wildcards) -> list[str]:
        """Return the files of the adapter that a cross-encoder uses."""
        return _adapter(self._encoders[wildcards.adapter], "adapter.safetensors")

    def chat(self, level: str) -> dict[str, Any] | None:
        """Return what names of a level (``passage`` or ``document``) by a chat model take; None where none is asked.

        A rule that asks no chat model does not run again when that model changes.
        """
        names = self._config["corpus"]["names"]
        if names[level]["method"] != "chat":
            return None
        return {"model": self._config["models"]["chat"], "naming": names["chat"]}

    def prompt(self, level: str) -> list[str]:
        """Return the prompt of a level's names; none where no chat model is asked."""
        chat = self.chat(level)
        return [chat["naming"][level]["prompt"]] if chat else []

    def models(self, *parts: str) -> dict[str, Any]:
        """Return parts of the block ``models``."""
        return {part: self._config["models"][part] for part in parts}

    def _passes(self, wildcards, last: int, shards: Sequence[str]) -> list[str]:
        return [
            PASS.format(collection=wildcards.collection, system=self._runs(wildcards.system, n), n=n, shard=shard)
            for n in range(1, last + 1)
            for shard in shards
        ]

    def _runs(self, system: str, n: int) -> str:
        """Return the system whose n-th pass serves for this one's: the one it extends, where all is the same so far."""
        base = self._config["bases"].get(system)
        if base is None or any(self._of_pass(system, k) != self._of_pass(base, k) for k in range(1, n + 1)):
            return system
        return self._runs(base, n)

    def _of_pass(self, system: str, n: int) -> tuple:
        """Return what decides how a system runs its n-th pass; None in it for a pass that it does not have."""
        settings = dict(self._config["systems"][system])
        passes = settings.pop("passes")
        # these two matter by what follows from them
        second = settings.pop("cascade") and self._config["models"]["verifier"]["second"]
        always = (n <= passes["minimum"]) if n <= passes["maximum"] else None
        return settings, bool(second), always, n == 1 or passes["exclude"]

    def _question_shards(self, wildcards) -> list[str]:
        count = 1 if wildcards.system == IMPORTED else self._config["execution"]["shards"]
        return [f"{number}-of-{count}" for number in range(1, count + 1)]


def _adapter(model: Mapping[str, Any], *names: str) -> list[str]:
    """Return the files of the adapter that a model's settings name; none where it goes without."""
    return [f"{model['adapter']}/{name}" for name in ("card.json", *names)] if model["adapter"] else []
