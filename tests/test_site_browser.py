"""The documentation as a site, on a phone: its search finds pages, and wide tables scroll alone."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import browser

pytestmark = pytest.mark.needs("chromium")
ROOT = Path(__file__).parents[1]
WIDE = (
    "index",
    "scenario",
    "reference/commands",
    "coming-from/ns-3",
    "studies",
    "standards/index",
)
"""Pages with tables that are wider than a phone."""

CUT = """() => [...document.querySelectorAll('.md-typeset__scrollwrap')].filter((it) =>
  it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).overflowX !== 'auto').length"""
"""Tables that are cut: wider than their frame, which does not scroll."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    yield from browser()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site's address: that of the folder `ANABRANCH_SITE`, or of one that is built here."""
    folder = os.environ.get("ANABRANCH_SITE") or str(tmp_path_factory.mktemp("site"))
    if not os.environ.get("ANABRANCH_SITE"):
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        subprocess.run(command, cwd=ROOT, check=True, env=environment)
    handler = functools.partial(_Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", WIDE)
def test_a_page_is_no_wider_than_a_phone(chromium: Any, site: str, name: str, scheme: str) -> None:
    for width in (390, 768, 1400):
        context = chromium.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme
        )
        tab = context.new_page()
        tab.goto(f"{site}/{name}.html")
        tab.wait_for_selector(".md-content table", state="attached")
        tab.wait_for_function("document.querySelector('.md-typeset__scrollwrap')")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        # All of a table that is wider than the page can be reached by scrolling the table.
        assert tab.evaluate(CUT) == 0
        context.close()


def test_the_search_finds_a_page_on_a_phone(chromium: Any, site: str) -> None:
    """And nothing comes from elsewhere."""
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda item: complaints.append(str(item)))
    requests: list[str] = []
    tab.on("request", lambda item: requests.append(item.url))
    tab.goto(f"{site}/index.html")
    tab.locator("label.md-header__button[for=__search]").tap()
    box = tab.locator(".md-search__input")
    box.fill("head-of-line blocking")
    tab.wait_for_selector(".md-search-result__item a")
    found = tab.locator(".md-search-result__item a").all_text_contents()
    assert any("Scenario" in each or "scenario" in each for each in found), found
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.locator(".md-search-result__item a").first.tap()
    tab.wait_for_selector(".md-content h1")
    assert complaints == []
    allowed = (site, "data:", "blob:")
    assert [url for url in requests if not url.startswith(allowed)] == []
    context.close()
