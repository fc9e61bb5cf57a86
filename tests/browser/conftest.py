"""A real browser for the tests of our pages: its console and its requests are watched.

Playwright keeps an event loop running in this thread for as long as its browser is open, and there
`asyncio.run` of other tests would fail. Hence the browser belongs to this folder: pytest opens it for
the first test that asks for it here, and closes it before it goes on to another folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")

# Containers have no sandbox and no graphics card; and nothing is to be asked of the network.
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, one for all tests of this folder."""
    if shutil.which(CHROMIUM) is None:
        pytest.skip(
            f"Chromium is not installed ({CHROMIUM} is not there): install Debian's package "
            "`chromium`, or name another one in $CHROMIUM"
        )
    reason = "Playwright is not installed: pip install 'beforehand[dev]'"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


class Pages:
    """Opens files as a person would, and notes whatever a person should never see.

    `problems` has errors and warnings of the console, exceptions, and requests for anything but the
    file itself. A test that wants one of them looks at it and takes it out.
    """

    def __init__(self, chromium: Browser) -> None:
        self.problems: list[str] = []
        self._browser = chromium
        self._contexts: list[BrowserContext] = []

    def __call__(self, file: Path, *, phone: bool = False, dark: bool = False) -> Page:
        """A page that shows `file`, in a window of its own."""
        options: dict[str, Any] = {"viewport": DESKTOP, "accept_downloads": True}
        if phone:
            options |= {"viewport": PHONE, "has_touch": True, "is_mobile": True}
            options |= {"device_scale_factor": 2}
        context = self._browser.new_context(color_scheme="dark" if dark else "light", **options)
        self._contexts.append(context)
        page = context.new_page()
        home = file.resolve().as_uri()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("request", lambda request: self._request(home, request))
        page.goto(home)
        return page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _request(self, home: str, request: Request) -> None:
        url = request.url
        if url.partition("#")[0] != home and not url.startswith(("data:", "blob:")):
            self.problems.append(f"request: {url}")

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            context.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Pages]:
    """`open_page(file)` opens a file; at the end of the test, problems of its pages are a failure."""
    pages = Pages(browser)
    yield pages
    pages.close()
    assert pages.problems == [], "a page had problems"
