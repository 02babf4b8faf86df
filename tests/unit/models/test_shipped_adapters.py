"""The shipped adapters are those that the configuration says how to train."""

import hashlib
import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
ADAPTERS = ROOT / "workflow" / "resources" / "adapters"
TRAINING = yaml.safe_load((ROOT / "config.yaml").read_text())["training"]


@pytest.fixture(params=sorted(TRAINING))
def card(request):
    return request.param, json.loads((ADAPTERS / request.param / "card.json").read_text())


def test_card_states_the_hyperparameters_of_the_configuration(card):
    name, stated = card
    assert {key: stated[key] for key in TRAINING[name]} == TRAINING[name]


def test_card_states_the_data_that_is_shipped(card):
    name, stated = card
    data = ADAPTERS / name / stated["data"]["file"]
    assert hashlib.sha256(data.read_bytes()).hexdigest() == stated["data"]["sha256"]


def test_weights_are_small_and_name_no_machine(card):
    name, _ = card
    files = [file for file in (ADAPTERS / name).iterdir() if file.suffix in (".safetensors", ".json")]
    assert sum(file.stat().st_size for file in files) < 4e6
    for file in files:
        if file.suffix == ".json":
            assert '"/' not in file.read_text()  # an absolute path
