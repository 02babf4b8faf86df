"""The chat model of the configuration."""

import copy
from pathlib import Path

import pytest
import yaml
from chat_server import error, good, request, serving

from calibrag.errors import BudgetError, ConfigError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.opening import decoding_of, open_chat

KEY = "sk-secret-0123456789"
SHIPPED = yaml.safe_load((Path(__file__).parents[3] / "config.yaml").read_text())["models"]["chat"]
ARRAY = {"type": "array"}


@pytest.fixture
def settings(tmp_path):
    return copy.deepcopy(SHIPPED) | {"backend": "server", "cache_folder": str(tmp_path / "cache"), "timeout_s": 20}


def ask(settings, *texts, schema=None):
    chat, spending = open_chat(settings)
    decoding = decoding_of(settings)
    asked = [request(text, decoding=decoding, schema=schema) for text in texts]
    return complete_all(chat, asked, settings["concurrency"]), spending


@pytest.mark.parametrize("backend", ["embedded", "server", "transformers"])
def test_the_shipped_settings_open_on_every_backend_and_call_nothing(settings, backend):
    chat, spending = open_chat(settings | {"backend": backend})
    assert (chat.name, spending.calls) == (SHIPPED["model"], 0)


def test_the_shipped_settings_need_no_server_elsewhere():
    assert SHIPPED["backend"] == "embedded"


def test_a_second_run_asks_the_server_for_nothing_and_reads_the_same(settings):
    with serving(good("one"), good("two")) as server:
        settings["server"]["base_url"] = server.url
        first, _ = ask(settings, "a", "b")
    again, spending = ask(settings, "a", "b")
    assert [reply.text for reply in again] == [reply.text for reply in first]
    assert (spending.calls, spending.replayed) == (0, 2)
    assert str(spending).startswith("0 calls (0 failed, 0 attempts), 2 from the cache")


@pytest.mark.parametrize("off", ["off", yaml.safe_load("off")])
def test_cache_off_keeps_nothing(settings, off):
    with serving(good()) as server:
        settings["server"]["base_url"] = server.url
        settings["cache"] = off
        ask(settings, "a")
        ask(settings, "a")
    assert len(server.requests) == 2
    assert not Path(settings["cache_folder"]).exists()


def test_a_reply_of_the_wrong_schema_is_drawn_again_counted_and_only_the_good_one_kept(settings):
    settings |= {"redraws": 1}
    with serving(good("{}"), good("[1]"), good("{}")) as server:
        settings["server"]["base_url"] = server.url
        (reply,), spending = ask(settings, "a", schema=ARRAY)
        (failed,), _ = ask(settings, "b", schema=ARRAY)
    assert (reply.parsed, reply.rejected, spending.calls) == ([1], 1, 2)
    assert [asked["seed"] for asked in server.requests[:2]] == [1, 10_001]
    assert failed.fault == "schema"
    kept = "".join(path.read_text() for path in Path(settings["cache_folder"]).iterdir())
    assert len(kept.splitlines()) == 1


def test_the_key_comes_from_the_variable_and_goes_nowhere_else(settings, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY + "\n")
    settings["server"]["api_key_env"] = "MY_KEY"
    with serving(good(f"echo {KEY}"), error(401, KEY)) as server:
        settings["server"]["base_url"] = server.url
        (reply, failed), spending = ask(settings | {"concurrency": 1}, "a", "b")
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    kept = "".join(path.read_text() for path in Path(settings["cache_folder"]).iterdir())
    for text in (kept, repr(reply), str(failed), repr(failed.__dict__), str(spending), str(settings)):
        assert KEY not in text


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_names_the_variable_and_what_to_do(settings, monkeypatch, value):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    settings["server"]["api_key_env"] = "MY_KEY"
    with pytest.raises(ConfigError, match=r"models\.chat\.server\.api_key_env: the environment variable MY_KEY is not"):
        open_chat(settings)


def test_prices_are_both_or_neither_and_a_budget_of_cost_wants_them(settings):
    with pytest.raises(ConfigError, match=r"models\.chat\.prices: must hold both or neither \(got prompt alone\)"):
        open_chat(settings | {"prices": {"prompt": 1.0, "completion": None}})
    with pytest.raises(ConfigError, match=r"models\.chat\.budget\.cost: needs both of models\.chat\.prices"):
        open_chat(settings | {"budget": {"tokens": None, "seconds": None, "cost": 1.0}})


def test_a_budget_stops_the_calls_and_what_was_paid_for_is_kept(settings):
    settings |= {"concurrency": 1, "prices": {"prompt": 0.0, "completion": 1e6}}
    settings["budget"] = {"tokens": None, "seconds": None, "cost": 10}
    with serving(good()) as server:
        settings["server"]["base_url"] = server.url
        with pytest.raises(BudgetError, match=r"models\.chat\.budget\.cost: 10 of 10 spent after 2 calls"):
            ask(settings, "a", "b", "c")
        _, spending = ask(settings, "a", "b")
    assert (spending.calls, spending.replayed) == (0, 2)
