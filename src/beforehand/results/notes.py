"""JSON notes next to results on a local disk, and files that appear only when they are complete."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from beforehand.results.layout import unfinished

VERSION: Final = 1  # of notes; readers refuse newer ones


def write_note(path: Path, content: Mapping[str, Any]) -> None:
    """Write a note over an older one."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file that appears under its name once it is complete."""
    temporary = path.with_name(unfinished(path.name))
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as problem:
        problem.filename = problem.filename or str(path)  # writing to an open file names none
        raise
    finally:
        temporary.unlink(missing_ok=True)
