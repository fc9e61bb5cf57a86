"""A real browser for testing our pages, whose console and requests are monitored.

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

# Containers have no sandbox and no GPU; the browser itself must not use the network.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this folder."""
    if shutil.which(CHROMIUM) is None:
        pytest.skip(
            f"Chromium is not installed ({CHROMIUM} is not there): install Debian's package "
            "`chromium`, or name another one in $CHROMIUM"
        )
    reason = "Playwright is not installed: pip install 'beforehand[dev]'"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


class Pages:
    """Opens files in the browser and records problems of their pages.

    `problems` lists console errors and warnings, exceptions, and requests for anything but the file
    itself. A test that expects one of them checks it and removes it.
    """

    def __init__(self, chromium: Browser) -> None:
        self.problems: list[str] = []
        self._browser = chromium
        self._contexts: list[BrowserContext] = []

    def __call__(self, file: Path, *, phone: bool = False, dark: bool = False) -> Page:
        """Open `file` in a window of its own."""
        options: dict[str, Any] = {"viewport": DESKTOP, "accept_downloads": True}
        if phone:
            options |= {"viewport": PHONE, "has_touch": True, "is_mobile": True}
            options |= {"device_scale_factor": 2}
        context = self._browser.new_context(color_scheme="dark" if dark else "light", **options)
        self._contexts.append(context)
        page = context.new_page()
        file_url = file.resolve().as_uri()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("request", lambda request: self._request(file_url, request))
        page.goto(file_url)
        return page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _request(self, file_url: str, request: Request) -> None:
        url = request.url
        if url.partition("#")[0] != file_url and not url.startswith(("data:", "blob:")):
            self.problems.append(f"request: {url}")

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            context.close()


def open_sections(page: Page) -> Page:
    """Open the sections of a report, which are closed at first; what is in them stays closed."""
    page.evaluate(
        "() => { for (const each of document.querySelectorAll('details.section')) each.open = true; }"
    )
    return page


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Pages]:
    """Open files with `open_page(file)`; the test fails if their pages had problems."""
    pages = Pages(browser)
    yield pages
    pages.close()
    assert pages.problems == [], "a page had problems"
