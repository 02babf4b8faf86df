"""The chat model that the configuration names, with its checks, its budget and its cache around it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from calibrag.errors import ConfigError
from calibrag.models.chat.caching import CachedChat, ResponseCache
from calibrag.models.chat.embedded import EmbeddedChat, EmbeddedSettings
from calibrag.models.chat.openai_api import OpenAIChat
from calibrag.models.chat.retrying import Retrying
from calibrag.models.chat.seam import ChatModel, Decoding
from calibrag.models.chat.spending import Budget, MeteredChat, Prices, Spending
from calibrag.models.chat.structured import StructuredChat


def open_chat(settings: Mapping[str, Any]) -> tuple[ChatModel, Spending]:
    """Return the model, and the count of what its calls use. Nothing is called, started or loaded yet.

    Parameters
    ----------
    settings
        ``models.chat`` of the configuration.

    Raises
    ------
    ConfigError
        The environment lacks the variable with the key; one price is missing, or a budget of cost has no prices.
    """
    prices = _prices(settings["prices"])
    budget = msgspec.convert(settings["budget"], Budget)
    if budget.cost is not None and prices is None:
        raise ConfigError("models.chat.budget.cost", "needs both of models.chat.prices, or must be null")
    spending = Spending(prices, budget)
    chat = StructuredChat(MeteredChat(_backend(settings), spending), settings["redraws"])
    # YAML reads a bare off as false
    if settings["cache"] in ("off", False):
        return chat, spending
    return CachedChat(chat, ResponseCache(settings["cache_folder"], settings["cache"]), spending), spending


def _backend(settings: Mapping[str, Any]) -> ChatModel:
    """Return the model itself, where the configuration says that it runs."""
    name, revision = settings["model"], settings["revision"]
    match settings["backend"]:
        case "embedded":
            return EmbeddedChat(
                name,
                revision,
                msgspec.convert(settings["embedded"], EmbeddedSettings),
                timeout_s=settings["timeout_s"],
                max_attempts=settings["max_attempts"],
            )
        case "transformers":
            # torch takes seconds to import, and only this backend needs it
            from calibrag.models.chat.in_process import InProcessChat

            return InProcessChat(name, revision, **settings["transformers"])
        case _:
            return OpenAIChat(
                settings["server"]["base_url"],
                name,
                revision,
                api_key=_api_key(settings["server"]["api_key_env"]),
                concurrency=settings["concurrency"],
                timeout_s=settings["timeout_s"],
                retrying=Retrying(settings["max_attempts"], settings["max_wait_s"]),
            )


def decoding_of(settings: Mapping[str, Any]) -> Decoding:
    """Return how ``models.chat`` draws text where a caller has no wish of its own."""
    return msgspec.convert(settings["decoding"], Decoding)


def _prices(settings: Mapping[str, float | None]) -> Prices | None:
    """Return the prices; None where there are none."""
    given = [name for name, price in settings.items() if price is not None]
    if len(given) == 1:
        raise ConfigError("models.chat.prices", f"must hold both or neither (got {given[0]} alone)")
    return msgspec.convert(settings, Prices) if given else None


def _api_key(variable: str | None) -> str | None:
    """Return the key that an environment variable holds; None where no variable is named."""
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(
            "models.chat.server.api_key_env",
            f"the environment variable {variable} is not set; run `export {variable}=...` first, or null for a server "
            "that wants no key",
        )
    return key
