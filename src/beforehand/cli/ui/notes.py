"""Notes that commands leave beside their results: what was made, how, when and where."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_note(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file of JSON, which appears under its name when it is complete."""
    # The dot: whoever reads the folder passes over it.
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
