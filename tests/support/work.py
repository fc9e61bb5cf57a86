"""Counting work, not time: how many lines of the package run.

A clock would measure the machine more than the algorithm. The interpreter can report every
line that it executes, so the pure modules are measured as they are, without counters in them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import beforehand.protocols.core as base
from beforehand import simulator
from beforehand.simulator.world import simulation

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


class _Enough(Exception):
    """All that is needed has been counted."""


def lines_per_event(scenario: simulator.Scenario, window: int, skipped: int) -> float:
    """Lines that a simulation executes per event, in one window of events after some others.

    Most of a run need not be counted, which is slow, nor should its start be: setting up and growing
    histograms is work that does not go on.
    """
    windows = 0
    lines = Lines()
    counting = ExitStack()

    def progress(sent: int, expected: int) -> None:
        nonlocal windows, lines
        windows += 1
        if windows == skipped:
            lines = counting.enter_context(counted_lines(PACKAGE))
        elif windows == skipped + 1:
            raise _Enough

    # A run reports its progress once in so many events.
    with patch.object(simulation, "PROGRESS_EVERY", window), counting, suppress(_Enough):
        simulator.run(scenario, progress=progress)
    assert windows == skipped + 1, f"the run was over after {windows} windows of {window} events"
    return lines.count / window
