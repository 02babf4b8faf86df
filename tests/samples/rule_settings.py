"""The settings of the answer rules as the shipped configuration has them."""

from functools import cache
from pathlib import Path

import msgspec
import yaml

from calibrag.runs.choices import RuleSettings

CONFIG = Path(__file__).parents[2] / "config.yaml"


def rule_settings(**changes) -> RuleSettings:
    """Return the shipped settings, with changes of the block ``runs``."""
    block = _shipped() | changes
    known = {name: block[name] for name in RuleSettings.__struct_fields__}
    return msgspec.convert(known, RuleSettings)


@cache
def _shipped():
    return yaml.safe_load(CONFIG.read_text())["runs"]
