"""A headless Chromium for tests of pages: Debian's, driven by Playwright.

Without a browser these tests are skipped, with what to install; where ``CALIBRAG_NEED_BROWSER`` is set, as CI does,
they fail instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",  # of root, which CI is
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def opened() -> Iterator:
    """Give a running browser."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing = f"no browser ({', '.join(NAMES)}); apt-get install chromium"
        (pytest.fail if os.environ.get("CALIBRAG_NEED_BROWSER") else pytest.skip)(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
