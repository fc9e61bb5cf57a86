"""The folder of a demo. Only parts of a demo are ever touched, in a folder that a demo has marked.

An earlier result is set aside while a new one is made, and comes back if that fails or is interrupted.
If even that was not possible, because the process was killed, the next demo brings it back first.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from beforehand.errors import PipelineError
from beforehand.results.layout import REPORT_PAGE, ComparisonFolder, DemoFolder
from beforehand.results.notes import write_note
from beforehand.results.output_folder import check_folder

HOLDS: Final = {"holds": "beforehand demo", "version": 1}
ASIDE: Final = ".previous-demo"
# In ASIDE: which parts are moved there, and which stay. Without it, nothing was moved, or all is done.
JOURNAL: Final = "journal.json"
PARTS: Final = (*DemoFolder.COMPARISONS, *DemoFolder.FULL, REPORT_PAGE, DemoFolder.NOTE)


def prepare(folder: Path) -> None:
    """Refuse a folder that holds other files or cannot be made; undo a demo that was killed."""
    check_folder(folder)
    if not folder.exists():
        return
    _bring_back(folder)
    # Hidden files may be the unfinished mark of a demo that was killed.
    inside = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if inside and _note(folder).get("holds") != HOLDS["holds"]:
        raise PipelineError(
            f"{folder} holds other files ({inside[0]}); choose a new folder for --out, or one of an "
            "earlier demo"
        )


@contextmanager
def replacing(folder: Path, note: dict[str, Any], keep: tuple[str, ...] = ()) -> Iterator[None]:
    """Make a new result in the folder; without success, the earlier one comes back."""
    new = not folder.exists()
    aside = folder / ASIDE
    aside.mkdir(parents=True)
    moved = [name for name in PARTS if name not in keep and os.path.lexists(folder / name)]
    write_note(aside / JOURNAL, {"moved": moved, "kept": list(keep)})
    try:
        for name in moved:
            (folder / name).rename(aside / name)
        mark(folder, note)
        yield
    except BaseException:
        _bring_back(folder)
        if new:
            folder.rmdir()
        raise
    (aside / JOURNAL).unlink()
    shutil.rmtree(aside)


def mark(folder: Path, note: dict[str, Any]) -> None:
    """Write the note that makes the folder a demo's."""
    write_note(folder / DemoFolder.NOTE, HOLDS | note)


def has_results(folder: Path) -> bool:
    """Whether an earlier demo has finished here."""
    return bool(_note(folder).get("finished"))


def finished_comparisons(folder: Path, seed: int) -> dict[str, Any] | None:
    """The comparisons of an earlier demo with this seed, if it has finished."""
    if not has_results(folder) or _note(folder).get("seed") != seed:
        return None
    notes = {name: _json(folder / name / ComparisonFolder.NOTE) for name in DemoFolder.COMPARISONS}
    return notes if all(notes.values()) else None


def _bring_back(folder: Path) -> None:
    """Remove what a failed demo has left, and put the result before it back in its place."""
    aside = folder / ASIDE
    if not aside.exists():
        return
    if journal := _json(aside / JOURNAL):
        for name in PARTS:
            if os.path.lexists(aside / name):
                _remove(folder / name)
                (aside / name).rename(folder / name)
            elif name not in (*journal["moved"], *journal["kept"]):
                _remove(folder / name)
    shutil.rmtree(aside)


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part)
    else:
        part.unlink(missing_ok=True)


def _note(folder: Path) -> dict[str, Any]:
    return _json(folder / DemoFolder.NOTE)


def _json(path: Path) -> dict[str, Any]:
    """A note; empty if there is none."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
