"""Measure the peak memory of a call with `tracemalloc`, which gives the same figure on every machine."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def peak_of(call: Callable[[], T]) -> tuple[T, int]:
    """Return the result of a call and the peak number of bytes allocated during it."""
    gc.collect()  # also clears the free lists, whose objects tracemalloc doesn't count
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
