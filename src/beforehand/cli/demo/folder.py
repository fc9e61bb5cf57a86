"""The folder of a demo. Each call starts afresh, so that all it shows was made by that very call.

Only what a demo makes is ever removed, and only where a mark says that a demo was here.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from beforehand.errors import PipelineError
from beforehand.results.layout import DemoFolder
from beforehand.results.notes import write_note

HOLDS: Final = {"holds": "beforehand demo", "version": 1}


def make_ready(folder: Path) -> None:
    """See that there is a folder that may be used; refuse one that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise PipelineError(f"{folder} is a file; choose a folder for --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise PipelineError(
            f"{folder}: cannot be made ({problem.strerror}); choose another folder for --out"
        ) from None
    if not os.access(folder, os.W_OK):
        raise PipelineError(f"{folder}: you may not write there; choose another folder for --out")
    # Names with a dot: what a demo left that was killed while it wrote its mark.
    inside = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    if inside and not _is_marked(folder):
        raise PipelineError(
            f"{folder} holds other files ({inside[0]}); choose a new folder for --out, or one of an "
            "earlier demo"
        )


def claim(folder: Path, note: dict[str, Any]) -> None:
    """Mark the folder, and remove what an earlier demo has left in it."""
    make_ready(folder)
    mark(folder, note)
    for name in DemoFolder.PARTS:
        part = folder / name
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def mark(folder: Path, note: dict[str, Any]) -> None:
    """Say that the folder is a demo's, and what is known of it."""
    write_note(folder / DemoFolder.NOTE, HOLDS | note)


def _is_marked(folder: Path) -> bool:
    try:
        found = json.loads((folder / DemoFolder.NOTE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return isinstance(found, dict) and found.get("holds") == HOLDS["holds"]
