"""Running a program on the faster event loop, where it is installed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`, on uvloop if there is one (`pip install 'beforehand[fast]'`).

    What is there at the start, mostly modules, is taken out of the sight of the garbage collector:
    with many messages per second it would be looked through all the time, for nothing.
    """
    gc.collect()
    gc.freeze()
    try:
        uvloop = import_module("uvloop")
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
