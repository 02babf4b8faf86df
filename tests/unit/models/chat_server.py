"""A real HTTP server on an ephemeral port that answers as a script says, and a chat model in this process."""

import json
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from calibrag.models.chat.seam import ChatRequest, ChatUsage, Decoding, Message, Reply


def completion(text, *, tokens=(10, 5), finish="stop", **choice):
    """Return the JSON of a good reply."""
    body = {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish, **choice}],
    }
    if tokens is not None:
        body["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    return json.dumps(body)


def good(text="fine", **options):
    return {"status": 200, "body": completion(text, **options)}


def error(status, message="no", code=None, **headers):
    return {"status": status, "body": json.dumps({"error": {"message": message, "code": code}}), "headers": headers}


class Server:
    """What was asked and answered, and the URL. The last step of the script answers all further requests."""

    def __init__(self, script):
        self.script = list(script)
        self.requests = []
        self.answered = []
        self.headers = []
        self.at_once = 0
        self.most_at_once = 0
        self.lock = threading.Lock()

    def next_step(self, request, headers):
        with self.lock:
            self.requests.append(request)
            self.headers.append(headers)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def serving(*script):
    """Yield a running server; a step is a dict (status, body, headers, wait, cut) or a function of the request."""
    server = Server(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if not body:
                return  # the client is dead
            request = json.loads(body)
            with server.lock:
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            step = server.next_step(request, dict(self.headers))
            if callable(step):
                step = step(request)
            time.sleep(step.get("wait", 0))
            with server.lock:
                server.at_once -= 1
            body = step["body"].encode()
            try:
                self.send_response(step["status"])
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                for name, value in step.get("headers", {}).items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body[: step.get("cut", len(body))])
            except OSError:
                return  # the client has given up
            with server.lock:
                server.answered.append(request)
            self.close_connection = "cut" in step

        def log_message(self, *_):
            pass

    class Http(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            if not isinstance(sys.exc_info()[1], ConnectionError):
                super().handle_error(request, client_address)

    http = Http(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()


DECODING = Decoding(temperature=0.0, max_tokens=64, seed=7)


def request(text="Who?", **fields):
    return ChatRequest(**{"messages": [Message(role="user", content=text)], "decoding": DECODING} | fields)


class ScriptedChat:
    """A chat model that answers by a function of the request: with a text, a reply, or an error that it raises."""

    def __init__(self, answer, name="scripted", revision="1"):
        self.name = name
        self.revision = revision
        self.host = None
        self.requests = []
        self.closed = 0
        self._answer = answer

    async def complete(self, request):
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        usage = ChatUsage(prompt_tokens=10, completion_tokens=5)
        return Reply(text=answer, finish_reason="stop", usage=usage, seconds=0.5)

    async def close(self):
        self.closed += 1
