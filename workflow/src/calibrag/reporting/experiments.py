"""What an experiment runs and measures, by the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from calibrag.errors import CalibragError, ConfigError
from calibrag.evaluation.answer_measures import RANKED_BY, parse_measures


def describe_experiment(
    config: Mapping[str, Any], name: str, model_names: Callable[..., dict[str, str]], asked: Set[str]
) -> dict[str, list[str]]:
    """Return heading -> names: collections, systems, retrievers, models and seeds of an experiment.

    Parameters
    ----------
    config
        The resolved configuration.
    model_names
        Returns part -> the model that it uses, of parts of the block ``models``.
    asked
        Parts that the policies of its systems ask; none where it has no systems of ours.
    """
    experiment, evaluation = config["experiments"][name], config["evaluation"]
    parts = ["embedder", "reranker"] if asked or experiment["retrievers"] else []
    models = model_names(*parts, *(["verifier"] if asked else []))
    models |= {part: config["models"][part]["model"] for part in sorted(asked)}
    seeds = {"bootstrap": evaluation["bootstrap"]["seed"], "tests": evaluation["significance"]["seed"]}
    if experiment["systems"]:
        seeds["folds"] = config["confidence"]["fitted"]["folds"]["seed"]
    return {
        **{kind: list(experiment[kind]) for kind in ("collections", "systems", "retrievers")},
        "models": [f"{part} {model}" for part, model in models.items()],
        "seeds": [f"{what} {seed}" for what, seed in seeds.items()],
    }


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
