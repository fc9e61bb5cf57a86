"""Pictures for the README: the report of a demo, and a diagram. `make screenshots` calls it.

    python scripts/screenshots.py DEMO FOLDER

DEMO is the output folder of `beforehand demo`. The diagram shows a simulated run, so it never changes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page, sync_playwright

WIDTH: Final = 1200
BEFOREHAND: Final = (sys.executable, "-m", "beforehand")
# Few enough messages to follow, and a network so bad that something has to wait.
RUN: Final = (
    "--protocol",
    "hybrid",
    "--processes",
    "5",
    "--messages",
    "8",
    "--workload",
    "uniform",
    "--seed",
    "4",
    "--delay",
    "exponential:8ms",
    "--loss",
    "0.1",
    "--interval",
    "6ms",
)
SELECTED: Final = "p3#4"
# Only what we serve ourselves is opened: the sandbox of the browser does not work for root.
QUIET: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
)


def main(demo: Path, folder: Path) -> None:
    """Take all screenshots."""
    report = demo / "report.html"
    if not report.exists():
        sys.exit(f"{report} is not there; run `make demo` first")
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("chromium is not installed (Debian: apt install chromium)")
    folder.mkdir(parents=True, exist_ok=True)
    with _browsing(browser) as page:
        _open(page, report, 900)
        page.screenshot(path=folder / "report.png")
        if page.locator("#protocols table").count() == 0:
            sys.exit(f"{report} compares no protocols; run `beforehand demo --full` first")
        page.evaluate("document.querySelector('#protocols').open = true")
        page.evaluate("document.querySelector('#protocols').scrollIntoView()")
        page.wait_for_timeout(1_500)  # charts are drawn when they come into view
        page.screenshot(path=folder / "protocols.png")
        with TemporaryDirectory() as scratch:
            _open(page, _diagram(Path(scratch)), 620)
            page.screenshot(path=folder / "diagram.png")


@contextmanager
def _browsing(browser: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=list(QUIET))
        yield started.new_page(color_scheme="light")
        started.close()


def _open(page: Page, file: Path, height: int) -> None:
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.goto(file.absolute().as_uri())
    page.wait_for_timeout(1_000)


def _diagram(scratch: Path) -> Path:
    """A page with the diagram of a run, a message of it selected."""
    file = scratch / "diagram.html"
    subprocess.run([*BEFOREHAND, "simulate", *RUN, "--out", scratch / "run"], check=True)
    subprocess.run(
        [*BEFOREHAND, "diagram", scratch / "run", "--around", SELECTED, "--out", file], check=True
    )
    return file


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
