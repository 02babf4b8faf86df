"""What the rules of names take where a chat model is asked, and where none is."""

from pathlib import Path

import pytest

from calibrag.configuration import load_yaml
from calibrag.inputs import Inputs

CONFIG = load_yaml(Path(__file__).parents[3] / "config.yaml")


@pytest.mark.parametrize("level", ["passage", "document"])
def test_rules_that_ask_no_chat_model_depend_on_nothing_of_it(level):
    take = Inputs(CONFIG)
    assert take.chat(level) is None
    assert take.prompt(level) == []


def test_a_level_by_a_chat_model_takes_the_model_and_its_own_prompt():
    names = CONFIG["corpus"]["names"]
    by_chat = {**names, "document": {**names["document"], "method": "chat"}}
    take = Inputs({**CONFIG, "corpus": {**CONFIG["corpus"], "names": by_chat}})
    assert take.chat("document") == {"model": CONFIG["models"]["chat"], "naming": names["chat"]}
    assert take.prompt("document") == ["workflow/resources/prompts/names_referred.md"]
    assert (take.chat("passage"), take.prompt("passage")) == (None, [])
