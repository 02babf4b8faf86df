"""The embedded server's process: llama.cpp's server on a free port of the loopback interface.

Run by its path, so that a crash or a kill takes nothing else with it. It reads its settings as JSON from standard input
(no other user of the machine sees the key there), writes its address and whether the model knows tools as a line of
JSON, and ends when its parent does.
"""

import json
import os
import sys
import time
from urllib.request import Request, urlopen

_WATCH_S = 0.2
"""How often the parent is looked for. PR_SET_PDEATHSIG would do, but fires when the *thread* that started us ends."""
_WARNINGS = 2
"""Level of llama.cpp's log."""


def main() -> None:
    """Serve until the parent ends."""
    settings = json.load(sys.stdin)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_prompt = settings["prompt_cache"]
    params.api_keys = [settings["key"]]
    # a page in a browser of this machine is no caller
    params.cors_origins = "http://127.0.0.1"
    params.ui = False
    params.warmup = False
    params.verbosity = _WARNINGS
    server = xllamacpp.Server(params)
    url = server.listening_address
    with urlopen(Request(f"{url}/props", headers={"Authorization": f"Bearer {settings['key']}"})) as answer:
        tools = json.load(answer)["chat_template_caps"]["supports_tools"]
    print(json.dumps({"url": url, "tools": tools}), flush=True)
    while os.getppid() == settings["parent"]:
        time.sleep(_WATCH_S)
    os._exit(0)


if __name__ == "__main__":
    main()
