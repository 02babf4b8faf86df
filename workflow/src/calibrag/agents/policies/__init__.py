"""Policies: what decides the next call of a pass. A new policy is one file here and one line in ``POLICIES``."""

from calibrag.agents.policies.llm import LlmPolicy, LlmSettings
from calibrag.agents.policies.reader import ReaderPolicy, ReaderSettings

POLICIES = {"reader": (ReaderPolicy, ReaderSettings), "llm": (LlmPolicy, LlmSettings)}
"""Name -> (policy, its settings record), as ``systems.*.policy.name`` in ``config.yaml`` gives it."""
