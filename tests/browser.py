"""A headless Chromium for tests: Debian's, by its path, or one that the environment names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from optional import REQUIRED, optional_import

PATH = os.environ.get("BIOEVAL_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def require_chromium() -> None:
    """Skip, or fail where optional parts are required, without a Chromium."""
    if not Path(PATH).exists():
        message = f"no Chromium at {PATH}"
        pytest.fail(message, pytrace=False) if REQUIRED else pytest.skip(message)


@contextmanager
def chromium() -> Iterator[Any]:
    api = optional_import("playwright.sync_api")
    require_chromium()
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """An opened page, with everything that it logged and asked for."""

    def __init__(self, browser: Any, path: Path, **context: Any):
        self.context = browser.new_context(accept_downloads=True, **context)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
