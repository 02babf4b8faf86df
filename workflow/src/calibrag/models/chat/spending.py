"""What calls use and cost, and the budget that they must keep to."""

from __future__ import annotations

import time
from collections.abc import Callable

from calibrag.errors import BudgetError, ModelCallError
from calibrag.models.chat.seam import ChatModel, ChatRequest, ChatUsage, Reply
from calibrag.records import Record


class Prices(Record):
    """What a million tokens cost, in any one currency."""

    prompt: float
    completion: float

    def cost(self, usage: ChatUsage) -> float | None:
        """Return what a call cost; None where its tokens are not known."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


class Budget(Record):
    """What a job may spend: prompt and completion tokens together, seconds from its first call on, cost; None: all."""

    tokens: int | None
    seconds: float | None
    cost: float | None


class Spending:
    """Counts what is spent and says when the budget is.

    ``calls``, ``failures``, ``attempts``, ``prompt_tokens``, ``completion_tokens`` and ``cost`` (None without prices)
    count what a server was asked for; ``replayed`` counts the replies that came from a cache instead, ``unreadable``
    the lines of the cache that could not be read, ``untold`` the calls whose tokens the server did not tell.
    """

    def __init__(self, prices: Prices | None, budget: Budget, clock: Callable[[], float] = time.monotonic):
        self.calls = self.failures = self.attempts = self.replayed = self.unreadable = self.untold = 0
        self.prompt_tokens = self.completion_tokens = 0
        self.cost: float | None = 0.0 if prices is not None else None
        self.prices = prices
        self._budget = budget
        self._clock = clock
        self._started: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the first call."""
        return 0.0 if self._started is None else self._clock() - self._started

    def check(self) -> None:
        """Raise if the budget is spent; called before each call, so that it is exceeded by those in flight at most.

        Raises
        ------
        BudgetError
            Tokens, seconds or cost have reached the budget, or cannot be counted.
        """
        if self._started is None:
            self._started = self._clock()
        budget = self._budget
        if self.untold and (budget.tokens is not None or budget.cost is not None):
            raise BudgetError(
                "models.chat.budget: the server does not tell its usage, so tokens and cost cannot be held to a budget;"
                " set budget.tokens and budget.cost to null"
            )
        tokens = self.prompt_tokens + self.completion_tokens
        for name, spent, limit in (
            ("tokens", tokens, budget.tokens),
            ("seconds", self.seconds, budget.seconds),
            ("cost", self.cost, budget.cost),
        ):
            if limit is not None and spent is not None and spent >= limit:
                raise BudgetError(
                    f"models.chat.budget.{name}: {spent:g} of {limit:g} spent after {self.calls} calls; raise it and"
                    " run again (with models.chat.cache: read-write, nothing is asked for twice)"
                )

    def add(self, reply: Reply) -> None:
        """Count a reply that a server gave."""
        self.calls += 1
        self.attempts += reply.attempts
        usage = reply.usage
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            self.untold += 1
            return
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        if self.prices is not None:
            self.cost += self.prices.cost(usage)

    def add_failure(self, error: ModelCallError) -> None:
        """Count a call that gave no reply."""
        self.calls += 1
        self.failures += 1
        self.attempts += error.attempts

    def __str__(self) -> str:
        cost = f", cost {self.cost:.4f}" if self.cost is not None else ""
        untold = f", {self.untold} calls of unknown usage" if self.untold else ""
        unreadable = f" ({self.unreadable} unreadable lines)" if self.unreadable else ""
        return (
            f"{self.calls} calls ({self.failures} failed, {self.attempts} attempts), "
            f"{self.replayed} from the cache{unreadable}, "
            f"{self.prompt_tokens} prompt and {self.completion_tokens} completion tokens{untold}{cost}"
        )


class MeteredChat:
    """A chat model whose calls are counted and held to a budget; it stands next to the server, inside any cache."""

    def __init__(self, chat: ChatModel, spending: Spending):
        self.name = chat.name
        self.revision = chat.revision
        self.host = chat.host
        self.spending = spending
        self._chat = chat

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply; see ``ChatModel``."""
        self.spending.check()
        try:
            reply = await self._chat.complete(request)
        except ModelCallError as error:
            self.spending.add_failure(error)
            raise
        self.spending.add(reply)
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self._chat.close()
