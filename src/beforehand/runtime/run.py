"""`asyncio.run` on uvloop, where it is installed."""

import asyncio
import gc
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`, on uvloop if there is one (`pip install 'beforehand[fast]'`).

    Objects that exist at the start, mostly modules, are hidden from the garbage collector: with many
    messages per second it would scan them all the time, for nothing.
    """
    gc.collect()
    gc.freeze()
    try:
        uvloop = import_module("uvloop")
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
