"""Headless Chromium for the tests of reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from needs import BROWSERS


@dataclass
class Page:
    """An open page, and what it complained of or asked the network for."""

    tab: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def browser() -> Iterator[Any]:
    """A browser for a module's tests, which need `chromium`."""
    path = next(filter(None, map(shutil.which, BROWSERS)))
    playwright = import_module("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # Root has no sandbox in Chromium; the pages are our own.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        arguments.append("--disable-dev-shm-usage")  # it is small in containers
        launch = driver.chromium.launch(executable_path=path, args=arguments)
        yield launch
        launch.close()


@contextmanager
def opened(browser: Any, file: Path, *, width: int = 1200, scheme: str = "light") -> Iterator[Page]:
    """The page of a file; nothing it does may be an error or go over a network."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = Page(context.new_page())
    page.tab.on("console", lambda item: page.complaints.append(item.text))
    page.tab.on("pageerror", lambda item: page.complaints.append(str(item)))
    page.tab.on("request", lambda item: page.requests.append(item.url))
    try:
        page.tab.goto(file.resolve().as_uri())
        page.tab.wait_for_selector("html[data-ready]")
        yield page
        assert page.complaints == []
        allowed = ("file:", "data:", "blob:")
        assert [url for url in page.requests if not url.startswith(allowed)] == []
    finally:
        context.close()
