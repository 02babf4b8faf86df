"""What calls use and cost, and budgets."""

import pytest
from chat_server import ScriptedChat, request

from calibrag.errors import BudgetError, ModelCallError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.seam import ChatUsage, Reply
from calibrag.models.chat.spending import Budget, MeteredChat, Prices, Spending

NO_BUDGET = Budget(tokens=None, seconds=None, cost=None)
PRICES = Prices(prompt=2.0, completion=10.0)


def metered(answer=lambda _: "fine", prices=PRICES, clock=lambda: 0.0, **budget):
    limits = {"tokens": None, "seconds": None, "cost": None} | budget
    return MeteredChat(ScriptedChat(answer), Spending(prices, Budget(**limits), clock))


def ask(chat, n):
    return complete_all(chat, [request(str(i)) for i in range(n)], 1)


def test_tokens_calls_and_cost_add_up():
    chat = metered()
    ask(chat, 4)
    spent = chat.spending
    assert (spent.calls, spent.attempts, spent.prompt_tokens, spent.completion_tokens) == (4, 4, 40, 20)
    assert spent.cost == pytest.approx(4 * (10 * 2 + 5 * 10) / 1e6)


def test_without_prices_the_cost_is_unknown_and_not_zero():
    chat = metered(prices=None)
    ask(chat, 1)
    assert chat.spending.cost is None
    assert "cost" not in str(chat.spending)


def test_failed_calls_are_counted_with_their_attempts():
    chat = metered(lambda _: ModelCallError("server", "m", "h", "down", 500, attempts=3))
    ask(chat, 2)
    assert (chat.spending.calls, chat.spending.failures, chat.spending.attempts) == (2, 2, 6)


def test_the_tokens_of_a_call_may_be_unknown_and_are_then_counted_as_such():
    untold = Reply(
        text="", finish_reason="stop", usage=ChatUsage(prompt_tokens=None, completion_tokens=None), seconds=0
    )
    chat = metered(lambda _: untold)
    ask(chat, 2)
    assert (chat.spending.untold, chat.spending.prompt_tokens) == (2, 0)
    with pytest.raises(BudgetError, match="does not tell its usage"):
        ask(metered(lambda _: untold, tokens=100), 2)


@pytest.mark.parametrize(
    "budget, message",
    [
        ({"tokens": 30}, "models.chat.budget.tokens: 30 of 30 spent after 2 calls"),
        ({"cost": 0.0001}, "models.chat.budget.cost: 0.00014 of 0.0001 spent after 2 calls"),
    ],
)
def test_a_spent_budget_stops_before_the_next_call(budget, message):
    chat = metered(**budget)
    with pytest.raises(BudgetError, match=message):
        ask(chat, 5)
    assert chat.spending.calls == 2


def test_seconds_count_from_the_first_call():
    now = [100.0]
    chat = metered(clock=lambda: now[0], seconds=60)
    ask(chat, 1)
    now[0] = 159.0
    ask(chat, 1)
    now[0] = 160.0
    with pytest.raises(BudgetError, match=r"models\.chat\.budget\.seconds: 60 of 60 spent"):
        ask(chat, 1)


def test_a_budget_never_reached_stops_nothing():
    assert len(ask(metered(tokens=1000, seconds=60, cost=1.0), 5)) == 5
