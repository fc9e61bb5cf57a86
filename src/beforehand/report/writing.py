"""A page under its name: it appears when it is complete, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beforehand.errors import ReportError


def check_target(path: Path) -> None:
    """Refuse a name under which no page can be, before any work is done."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file in it")
    for parent in path.parents:
        if parent.exists() and not parent.is_dir():
            raise ReportError(
                f"{path} cannot be written, since {parent} is a file; choose another place"
            )


def write_page(path: Path, text: str) -> None:
    """Write a file, over one that is there; what is no file, such as a pipe, is written into."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    with _clear(path):
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_text(text, encoding="utf-8")
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)


@contextmanager
def _clear(path: Path) -> Iterator[None]:
    """What the system says, with the name that it is about."""
    try:
        yield
    except OSError as problem:
        raise ReportError(
            f"{path} cannot be written ({problem.strerror}); choose another path"
        ) from None
