"""The memory of a run follows what is in flight, not what is over."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from beforehand.simulator import Result, Scenario, run
from beforehand.trace import Columns, Recorder, Sink

FEW, MANY = 50, 400  # messages of each process
FLAT = 1.3  # the largest growth that counts as none


class Nowhere(Sink):
    """Keeps nothing."""

    def write(self, columns: Columns) -> None:
        """Take them."""

    def close(self) -> None:
        """The run is over."""

    def abort(self) -> None:
        """The run has failed."""


def ring(messages: int, **fields: str | float) -> Scenario:
    """Twenty processes with four peers each."""
    return Scenario(workload="ring:4", processes=20, messages=messages, **fields)  # type: ignore[arg-type]


@contextmanager
def no_collector() -> Iterator[None]:
    """Let garbage pile up, so that it can be counted."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def peak(scenario: Scenario, *, audit: bool = False, record: bool = False) -> int:
    """The most bytes that a run has in use at any time."""
    with no_collector():
        tracemalloc.start()
        try:
            with Recorder("run", Nowhere()) as recorder:
                result = run(scenario, audit=audit, recorder=recorder if record else None)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            assert result.outcome == "complete"


def test_memory_does_not_grow_with_the_number_of_messages() -> None:
    """Eight times as many messages take no more memory."""
    few, many = peak(ring(FEW)), peak(ring(MANY))
    assert many < FLAT * few, (few, many)
