"""How much memory a call takes, by Python's own account: the same on every machine."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def peak_of(call: Callable[[], T]) -> tuple[T, int]:
    """The result of a call, and the most bytes that were allocated at once during it."""
    gc.collect()  # also empties free lists, from which small objects would come unnoticed
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
