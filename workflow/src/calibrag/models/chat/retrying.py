"""Waiting before another attempt: exponential backoff with jitter, and what the server's Retry-After asks for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from calibrag.errors import ModelCallError

T = TypeVar("T")

_FIRST_S = 1.0
"""Mean wait before the second attempt; it doubles with every further one."""


class TransientError(Exception):
    """An attempt that failed in a way that another may mend.

    Parameters
    ----------
    error
        What is raised if it was the last attempt.
    retry_after
        Seconds that the server asks to wait; None where it asks for nothing.
    """

    def __init__(self, error: ModelCallError, retry_after: float | None = None):
        super().__init__(str(error))
        self.error = error
        self.retry_after = retry_after


class Retrying:
    """Repeats an attempt until it succeeds or there are no more.

    Parameters
    ----------
    max_attempts
        Attempts in all, 1 or more.
    max_wait_s
        Longest wait between two; a server that asks for a longer one is given up on.
    sleep
        Waits some seconds.
    jitter
        A number from 0 up to 1; half of each wait is drawn, so that many callers do not come back together.
    """

    def __init__(
        self,
        max_attempts: int,
        max_wait_s: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ):
        self.max_attempts = max_attempts
        self.max_wait_s = max_wait_s
        self._sleep = sleep
        self._jitter = jitter

    async def run(self, attempt: Callable[[int], Awaitable[T]]) -> T:
        """Return what the attempt returns.

        Parameters
        ----------
        attempt
            Is called with its number, from 1; raises `TransientError` where another attempt may help.

        Raises
        ------
        ModelCallError
            The error of the last attempt.
        """
        number = 1
        while True:
            try:
                return await attempt(number)
            except TransientError as failed:
                asked = failed.retry_after
                if number == self.max_attempts or (asked is not None and asked > self.max_wait_s):
                    # the cause holds the request's headers
                    raise failed.error from None
            await self._sleep(max(self.wait(number), asked or 0.0))
            number += 1

    def wait(self, number: int) -> float:
        """Return the seconds to wait after an attempt, by its number from 1."""
        return min(_FIRST_S * 2 ** (number - 1) * (0.5 + self._jitter()), self.max_wait_s)


def retry_after(headers: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """Return the seconds that a reply's headers ask to wait, 0 or more; None where they ask for nothing readable.

    The header holds seconds or a date (RFC 9110, section 10.2.3).
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now()).total_seconds())
