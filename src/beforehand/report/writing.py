"""Writes a page: the file appears when it is complete, or not at all."""

from pathlib import Path

from beforehand.errors import ReportError
from beforehand.results.notes import write_text


def check_target(path: Path) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file in it")
    for parent in path.parents:
        if parent.exists() and not parent.is_dir():
            raise ReportError(
                f"{path} cannot be written, since {parent} is a file; choose another path"
            )


def write_page(path: Path, text: str) -> None:
    """Write a file, over an older one; other than files, such as pipes, are written into.

    Raises OSError with this path: for a full disk, for example, or a missing permission.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
    except OSError as problem:  # which may name a temporary file, or none
        raise OSError(problem.errno, problem.strerror, str(path)) from None
