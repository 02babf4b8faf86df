"""The cache of replies: what it holds, what it survives, and who may share it."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from chat_server import ScriptedChat, request
from hypothesis import given
from hypothesis import strategies as st

from calibrag.errors import ModelCallError
from calibrag.models.chat.batches import complete_all
from calibrag.models.chat.caching import CachedChat, ResponseCache, key_of
from calibrag.models.chat.seam import Beam, ChatUsage, Decoding, Message, Reply, TokenLogprob, Tool, ToolCall
from calibrag.models.chat.spending import Budget, Spending
from calibrag.models.chat.structured import StructuredChat

SOURCE = Path(__file__).parents[3] / "workflow" / "src"


def reply(text="fine"):
    return Reply(
        text=text,
        finish_reason="stop",
        usage=ChatUsage(prompt_tokens=3, completion_tokens=2),
        seconds=1.5,
        parsed={"names": ["Ada"]},
        tool_calls=[ToolCall(call_id="c", name="search", arguments='{"query": "A')],
        reasoning="first",
        beams=[Beam(text="fine", logprob=-1.5), Beam(text="well", logprob=None)],
        logprobs=[TokenLogprob(token="a", logprob=-0.25, top=[("a", -0.25), ("b", -2.0)])],
        attempts=2,
        rejected=1,
    )


def cached(chat, folder, mode="read-write"):
    spending = Spending(None, Budget(tokens=None, seconds=None, cost=None))
    return CachedChat(chat, ResponseCache(folder, mode), spending), spending


def echo():
    return ScriptedChat(lambda asked: f"reply to {asked.messages[0].content}")


# --- what it holds --------------------------------------------------------------------------------


def test_a_reply_comes_back_as_it_was_from_another_instance(tmp_path):
    ResponseCache(tmp_path, "read-write").put("k", reply())
    again = ResponseCache(tmp_path, "read")
    assert again.get("k") == reply()
    assert again.get("other") is None


@given(st.text())
def test_any_text_comes_back(text):
    written = msgspec.json.encode(reply(text))
    assert msgspec.json.decode(written, type=Reply).text == text


def test_nothing_is_asked_for_twice_and_a_cached_reply_says_so(tmp_path):
    first, _ = cached(echo(), tmp_path)
    (one,) = complete_all(first, [request("a")], 1)
    silent = ScriptedChat(lambda _: pytest.fail("asked again"))
    second, spending = cached(silent, tmp_path)
    (two,) = complete_all(second, [request("a")], 1)
    assert (one.usage.cached, two.usage.cached) == (False, True)
    assert msgspec.structs.replace(two, usage=one.usage) == one
    assert spending.replayed == 1


def test_each_part_of_model_and_request_is_part_of_the_key():
    schema = {"type": "object"}
    decoding = Decoding(temperature=0.0, max_tokens=64, seed=7)
    changed = [
        {"temperature": 0.1}, {"max_tokens": 65}, {"seed": 8}, {"stop": ["x"]}, {"logprobs": 0}, {"extra": {"beam": 2}}
    ]  # fmt: skip
    requests = [
        request("a"),
        request("b"),
        request(messages=[Message(role="system", content="a")]),
        request("a", schema=schema),
        request("a", schema={"type": "array"}),
        request("a", sample=1),
        request("a", beams=2),
        request("a", tools=[Tool(name="t", description="", parameters={})]),
        request("a", tools=[Tool(name="t", description="", parameters=schema)]),
        *(request("a", decoding=msgspec.structs.replace(decoding, **change)) for change in changed),
    ]
    keys = [key_of("m", "r", asked) for asked in requests]
    keys += [key_of("m2", "r", requests[0]), key_of("m", "r2", requests[0])]
    assert len(set(keys)) == len(keys) == 17
    assert key_of("m", "r", request("a")) == keys[0]


def test_samples_of_one_request_are_kept_apart(tmp_path):
    numbers = iter(range(10))
    chat, _ = cached(ScriptedChat(lambda _: str(next(numbers))), tmp_path)
    samples = complete_all(chat, request().samples(3), 1)
    assert [sample.text for sample in samples] == ["0", "1", "2"]
    again, _ = cached(ScriptedChat(lambda _: "new"), tmp_path)
    assert [sample.text for sample in complete_all(again, request().samples(3), 1)] == ["0", "1", "2"]


def test_equal_requests_under_way_together_are_one_call(tmp_path):
    chat = echo()
    both, spending = cached(chat, tmp_path)
    replies = complete_all(both, [request("a")] * 5, 5)
    assert len(chat.requests) == 1
    assert [one.usage.cached for one in replies] == [False, True, True, True, True]
    assert spending.replayed == 4


def test_who_gives_up_waiting_takes_no_reply_from_the_others(tmp_path):
    async def run():
        class Slow(ScriptedChat):
            async def complete(self, asked):
                await asyncio.sleep(0.05)
                return await super().complete(asked)

        chat, _ = cached(Slow(lambda _: "late"), tmp_path)
        first = asyncio.create_task(chat.complete(request()))
        second = asyncio.create_task(chat.complete(request()))
        await asyncio.sleep(0.01)
        first.cancel()
        return (await second).text

    assert asyncio.run(run()) == "late"


def test_failures_and_malformed_replies_are_not_kept(tmp_path):
    asked = [request("down"), request("odd", schema={"type": "array"})]
    answers = {"down": ModelCallError("server", "m", "h", "down", 500), "odd": "no JSON"}
    broken, _ = cached(StructuredChat(ScriptedChat(lambda r: answers[r.messages[0].content]), 1), tmp_path)
    assert [outcome.fault for outcome in complete_all(broken, asked, 1)] == ["server", "schema"]
    assert list(tmp_path.iterdir()) == []
    mended, _ = cached(StructuredChat(ScriptedChat(lambda _: "[]"), 1), tmp_path)
    assert [outcome.text for outcome in complete_all(mended, asked, 1)] == ["[]", "[]"]


def test_a_reply_drawn_again_is_found_without_a_draw(tmp_path):
    texts = iter(["no", "[1]"])
    asked = [request(schema={"type": "array"})]
    first, _ = cached(StructuredChat(ScriptedChat(lambda _: next(texts)), 1), tmp_path)
    (one,) = complete_all(first, asked, 1)
    second, _ = cached(StructuredChat(ScriptedChat(lambda _: pytest.fail("asked again")), 1), tmp_path)
    (two,) = complete_all(second, asked, 1)
    assert (one.rejected, two.rejected, two.parsed) == (1, 1, [1])


# --- modes ----------------------------------------------------------------------------------------


def test_mode_read_replays_and_writes_nothing(tmp_path):
    filled, _ = cached(echo(), tmp_path)
    complete_all(filled, [request("a")], 1)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    chat = echo()
    reading, _ = cached(chat, tmp_path, "read")
    complete_all(reading, [request("a"), request("b")], 1)
    assert [asked.messages[0].content for asked in chat.requests] == ["b"]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_mode_read_makes_no_folder(tmp_path):
    reading, _ = cached(echo(), tmp_path / "none", "read")
    assert complete_all(reading, [request("a")], 1)[0].text == "reply to a"
    assert not (tmp_path / "none").exists()


# --- what it survives -----------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_line_without_its_end_is_passed_over_and_counted(tmp_path, kept):
    cache = ResponseCache(tmp_path, "read-write")
    cache.put("a", reply("first"))
    cache.put("b", reply("second"))
    (path,) = tmp_path.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][: int(len(lines[1]) * kept)])
    again = ResponseCache(tmp_path, "read-write")
    assert (again.get("a").text, again.get("b"), again.skipped) == ("first", None, 1)
    again.put("b", reply("third"))
    assert ResponseCache(tmp_path, "read").get("b").text == "third"


def test_lines_that_are_no_replies_are_passed_over_and_counted(tmp_path):
    ResponseCache(tmp_path, "read-write").put("a", reply())
    (path,) = tmp_path.iterdir()
    good = path.read_bytes()
    path.write_bytes(b'{"key": "a"}\n\n\xff\xfe\n{"key": "x", "reply"\n' + good)
    cache = ResponseCache(tmp_path, "read")
    assert cache.get("a") == reply()
    assert cache.skipped == 4


def test_the_count_of_a_job_tells_the_lines_that_could_not_be_read(tmp_path):
    ResponseCache(tmp_path, "read-write").put("a", reply())
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    chat, spending = cached(echo(), tmp_path)
    complete_all(chat, [request("a")], 1)
    assert "0 from the cache (1 unreadable lines)" in str(spending)


def test_the_oldest_reply_to_a_key_counts_in_every_process(tmp_path):
    for text in ("old", "new"):
        ResponseCache(tmp_path, "read-write").put("k", reply(text))
    assert ResponseCache(tmp_path, "read").get("k").text == "old"


def test_what_another_process_writes_meanwhile_is_found(tmp_path):
    seconds = itertools.count()  # a second goes by between two looks
    one, other = ResponseCache(tmp_path, "read-write"), ResponseCache(tmp_path, "read-write", lambda: next(seconds))
    for n in range(3):
        one.put(f"k{n}", reply(str(n)))
        assert other.get(f"k{n}").text == str(n)


def test_others_are_looked_at_once_a_second_and_own_replies_are_there_at_once(tmp_path):
    now = 0.0
    cache = ResponseCache(tmp_path, "read-write", lambda: now)
    ResponseCache(tmp_path, "read-write").put("other", reply("other"))
    for n in range(3):
        cache.put(f"k{n}", reply(str(n)))
    assert [cache.get(f"k{n}").text for n in range(3)] == ["0", "1", "2"]
    assert cache.get("other") is None
    now = 1.0
    assert cache.get("other").text == "other"
    assert [cache.get(f"k{n}").text for n in range(3)] == ["0", "1", "2"]


def test_a_line_being_written_is_found_once_it_is_whole(tmp_path):
    ResponseCache(tmp_path, "read-write").put("k", reply())
    (path,) = tmp_path.iterdir()
    line = path.read_bytes()
    path.write_bytes(line[:20])
    seconds = itertools.count()
    cache = ResponseCache(tmp_path, "read", lambda: next(seconds))
    assert (cache.get("k"), cache.skipped) == (None, 1)
    path.write_bytes(line)
    assert (cache.get("k"), cache.skipped) == (reply(), 0)


def test_a_full_disk_is_an_error_and_leaves_a_usable_cache(tmp_path, monkeypatch):
    cache = ResponseCache(tmp_path, "read-write")
    cache.put("a", reply())
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, line: write(handle, line[:10]))
    with pytest.raises(OSError, match="only 10 of"):
        cache.put("b", reply())
    monkeypatch.undo()
    cache.put("c", reply())
    again = ResponseCache(tmp_path, "read")
    assert [again.get(key) is None for key in "abc"] == [False, True, False]


# --- processes ------------------------------------------------------------------------------------

WRITER = """
import sys
from calibrag.models.chat.caching import ResponseCache
from calibrag.models.chat.seam import ChatUsage, Reply
folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
cache = ResponseCache(folder, "read-write")
usage = ChatUsage(prompt_tokens=1, completion_tokens=1)
for n in range(count):
    cache.put(f"{name}-{n}", Reply(text=name * 2000, finish_reason="stop", usage=usage, seconds=0.0))
    print(n, flush=True)
"""


def writer(folder, name, count):
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(SOURCE)}, stdout=subprocess.PIPE)


def test_two_processes_write_to_one_cache_and_nothing_is_lost(tmp_path):
    processes = [writer(tmp_path, name, 300) for name in ("x", "y")]
    assert [process.communicate() and process.returncode for process in processes] == [0, 0]
    cache = ResponseCache(tmp_path, "read")
    for name in ("x", "y"):
        assert all(cache.get(f"{name}-{n}").text == name * 2000 for n in range(300))
    assert cache.skipped == 0
    assert len(list(tmp_path.iterdir())) == 2


def test_a_killed_process_loses_no_reply_that_it_had_written(tmp_path):
    process = writer(tmp_path, "x", 10**6)
    said = [process.stdout.readline() for _ in range(50)]
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    cache = ResponseCache(tmp_path, "read")
    assert all(cache.get(f"x-{n}").text == "x" * 2000 for n in range(len(said)))
    assert cache.skipped <= 1
