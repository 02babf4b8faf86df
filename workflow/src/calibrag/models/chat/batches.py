"""Many calls at once, for code that runs in no event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from calibrag.errors import ModelCallError
from calibrag.models.chat.seam import ChatModel, ChatRequest, Reply


def complete_all(chat: ChatModel, requests: Sequence[ChatRequest], concurrency: int) -> list[Reply | ModelCallError]:
    """Return for each request, in order, its reply or the error that it ended in.

    Parameters
    ----------
    chat
        The model; it is closed at the end, and may be called again.
    concurrency
        Requests under way, 1 or more.

    Raises
    ------
    BudgetError
        The budget is spent; the replies before it are lost unless there is a cache.
    """
    return asyncio.run(_complete_all(chat, requests, concurrency))


def complete_or_say(
    chat: ChatModel,
    requests: Sequence[ChatRequest],
    about: Sequence[str],
    concurrency: int,
    say: Callable[[str], None],
) -> list[Reply | None]:
    """Return for each request, in order, its reply; None for one that failed, which a line of the log names.

    Parameters
    ----------
    chat, concurrency
        As of `complete_all`.
    about
        What each request is about, for the log.
    say
        Takes lines for the log.

    Raises
    ------
    ModelCallError
        A fault that every further call would meet.
    BudgetError
        As of `complete_all`.
    """
    replies: list[Reply | None] = []
    for outcome, subject in zip(complete_all(chat, requests, concurrency), about, strict=True):
        if isinstance(outcome, ModelCallError):
            if outcome.meets_every_call:
                raise outcome
            say(f"{subject}: {outcome}")
            replies.append(None)
        else:
            replies.append(outcome)
    return replies


async def _complete_all(
    chat: ChatModel, requests: Sequence[ChatRequest], concurrency: int
) -> list[Reply | ModelCallError]:
    outcomes: dict[int, Reply | ModelCallError] = {}
    waiting = iter(enumerate(requests))

    async def work() -> None:
        for place, request in waiting:
            try:
                outcomes[place] = await chat.complete(request)
            except ModelCallError as error:
                outcomes[place] = error

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(requests)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        await chat.close()
    return [outcomes[place] for place in range(len(requests))]
