"""Opens a page that a command has written, for `--open`."""

import os
import sys
import webbrowser
from pathlib import Path
from typing import Final

import typer

_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def open_page(page: Path) -> bool:
    """Open a page in the default browser, or print where it is; returns whether it was opened.

    Without a display, `webbrowser` would start a browser in the terminal, or one that fails later.
    """
    if not (_has_display() and _opened(page)):
        typer.echo(f"No browser can be opened here; the page is {page.resolve()}", err=True)
        return False
    return True


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, _DISPLAYS))


def _opened(page: Path) -> bool:
    try:
        return webbrowser.open(page.resolve().as_uri())
    except webbrowser.Error:
        return False
