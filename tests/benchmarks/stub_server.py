"""A server that answers every chat call with the next turn of one script, so many milliseconds later.

    python tests/benchmarks/stub_server.py --latency 0.5 --turns 6

A fake for `runner.py`, in a process of its own so that its work is not counted as the runner's. It prints its URL, and
on standard input's end it stops. The turn is that of the assistant's messages in the request: search, read, two
records, searches as many as are wanted, and an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

SEARCH = ("search", {"query": "who directed it", "neighbours": 0})
READ = ("read", {"passage_id": "p0", "question": "who directed it"})
ANSWER = ("answer", {"text": "word0", "passage_ids": ["p0", "p1"]})


def _record(number: int) -> tuple[str, dict]:
    passage = f"p{number}"
    return "record", {"passage_id": passage, "quotes": [f"{passage} word0 word1"], "claim": "word0 directed it"}


def script(turns: int) -> list[tuple[str, dict]]:
    """Return the calls of a conversation, 5 or more."""
    return [SEARCH, READ, _record(0), _record(1), *[SEARCH] * (turns - 5), ANSWER]


def reply_to(request: dict, calls: list[tuple[str, dict]]) -> bytes:
    """Return the body of the reply to a request, in the style that it asks for."""
    done = sum(message["role"] == "assistant" for message in request["messages"])
    name, arguments = calls[min(done, len(calls) - 1)]
    message = {"role": "assistant", "content": None}
    if "tools" in request:
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"call-{done}", "type": "function", "function": function}]
    else:
        message["content"] = json.dumps({"reasoning": "It follows.", "call": {"tool": name, **arguments}})
    return json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940},
        }
    ).encode()


async def serve(latency: float, turns: int) -> None:
    """Answer until standard input ends."""
    calls = script(turns)

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.split("content-length:")[1].split("\r\n")[0])
                due = asyncio.get_running_loop().time() + latency
                body = reply_to(json.loads(await reader.readexactly(length)), calls)
                await asyncio.sleep(due - asyncio.get_running_loop().time())
                headers = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(headers.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, limit=1 << 24, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--turns", type=int, default=6)
    asked = parser.parse_args()
    asyncio.run(serve(asked.latency, asked.turns))


if __name__ == "__main__":
    main()
