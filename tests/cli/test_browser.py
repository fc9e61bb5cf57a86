"""`--open`: the page opens in the default browser, or the command says where it is."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from beforehand.cli.ui.browser import open_page


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A display, and a browser that records what it opens."""
    addresses: list[str] = []

    def record(url: str) -> bool:
        addresses.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", record)
    monkeypatch.setenv("DISPLAY", ":0")
    return addresses


def test_the_page_is_opened_by_its_address(opened: list[str], tmp_path: Path) -> None:
    """A file address with escaped characters, also for a relative path."""
    assert open_page(tmp_path / "a page.html")
    assert opened == [f"{tmp_path.as_uri()}/a%20page.html"]


def test_without_a_display_no_browser_is_started(
    opened: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One in the terminal would hide the output of the command."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert not open_page(tmp_path / "page.html")
    assert opened == []
    assert f"the page is {tmp_path}/page.html" in capsys.readouterr().err


@pytest.mark.parametrize("fails", [False, True])
def test_without_a_browser_the_path_is_printed(
    opened: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fails: bool,
) -> None:
    """Whether `webbrowser` returns False or raises its error."""

    def no_browser(url: str) -> bool:
        if fails:
            raise webbrowser.Error("could not locate runnable browser")
        return False

    monkeypatch.setattr(webbrowser, "open", no_browser)
    assert not open_page(tmp_path / "page.html")
    assert f"the page is {tmp_path}/page.html" in capsys.readouterr().err
