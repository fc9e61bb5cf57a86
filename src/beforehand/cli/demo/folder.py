"""The folder of a demo. Each call starts afresh, so that all results are its own.

Only the parts of a demo are ever removed, and only from a folder that a demo has marked.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from beforehand.errors import PipelineError
from beforehand.results.layout import DemoFolder
from beforehand.results.notes import write_note

HOLDS: Final = {"holds": "beforehand demo", "version": 1}


def prepare(folder: Path) -> None:
    """Create the folder if need be; refuse one that holds other files."""
    if folder.exists() and not folder.is_dir():
        raise PipelineError(f"{folder} is a file; choose a folder for --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise PipelineError(
            f"{folder}: cannot be created ({problem.strerror}); choose another folder for --out"
        ) from None
    if not os.access(folder, os.W_OK):
        raise PipelineError(f"{folder}: no permission to write; choose another folder for --out")
    # Hidden files may be the unfinished mark of a demo that was killed.
    inside = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if inside and not _is_marked(folder):
        raise PipelineError(
            f"{folder} holds other files ({inside[0]}); choose a new folder for --out, or one of an "
            "earlier demo"
        )


def claim(folder: Path, note: dict[str, Any]) -> None:
    """Mark the folder, and remove the results of an earlier demo."""
    prepare(folder)
    mark(folder, note)
    for name in DemoFolder.PARTS:
        part = folder / name
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def mark(folder: Path, note: dict[str, Any]) -> None:
    """Write the note that makes the folder a demo's."""
    write_note(folder / DemoFolder.NOTE, HOLDS | note)


def _is_marked(folder: Path) -> bool:
    try:
        note = json.loads((folder / DemoFolder.NOTE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return isinstance(note, dict) and note.get("holds") == HOLDS["holds"]
