"""Counting work, not time: how many lines of the package run.

A clock would say more about the machine than about the algorithm. The interpreter can report every
line that it executes, so the pure modules are measured as they are, without counters in them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import beforehand.protocols.base as base

CORES = Path(base.__file__).parent
PACKAGE = CORES.parent
COUNTABLE = base.__file__.endswith(".py")  # compiled modules execute no lines


class Lines:
    """How many lines were executed."""

    count = 0


@contextmanager
def counted_lines(folder: Path = CORES) -> Iterator[Lines]:
    """Count the lines of `beforehand.protocols`, or of another folder, that run inside."""
    lines = Lines()
    ours = f"{folder}{os.sep}"

    def on_line(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            lines.count += 1
        return on_line

    def on_call(frame: FrameType, event: str, arg: Any) -> Any:
        return on_line if frame.f_code.co_filename.startswith(ours) else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield lines
    finally:
        sys.settrace(before)
