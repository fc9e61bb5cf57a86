"""The memory of a run follows the messages in flight, not those already delivered."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from beforehand.simulator import Scenario, run

PROCESSES = 20
FEW, MANY = 25, 200  # messages of each process
FLAT = 1.3  # the largest growth that counts as none


def scenario(messages: int, workload: str, delay: str = "5ms", loss: float = 0.0) -> Scenario:
    """Few processes, and an interval in which what is sent also arrives: nothing piles up."""
    return Scenario(
        protocol="hybrid",
        workload=workload,
        processes=PROCESSES,
        messages=messages,
        delay=delay,
        loss=loss,
    )


@contextmanager
def collector_off() -> Iterator[None]:
    """Let garbage pile up, so that it is seen."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def peak(planned: Scenario, audit: bool = False) -> int:
    """The most bytes that a run has in use at any time."""
    with collector_off():
        tracemalloc.start()
        try:
            result = run(planned, audit=audit)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert result.outcome == "complete"
    return most


@pytest.mark.parametrize(
    ("workload", "delay"), [("ring:4", "5ms"), ("groups:4", "uniform:1ms,9ms")]
)
def test_memory_does_not_grow_with_the_number_of_messages(workload: str, delay: str) -> None:
    """Eight times as many messages take no more memory.

    With random delays to several receivers, messages overlap forever: none may keep those before it.
    """
    few, many = (peak(scenario(messages, workload, delay)) for messages in (FEW, MANY))
    assert many < FLAT * few, f"bytes: {few}, {many}"


def test_the_measurement_does_see_memory_that_grows() -> None:
    """The oracle, which must know the whole history, does take more for more messages."""
    few, many = (peak(scenario(messages, "ring:4"), audit=True) for messages in (FEW, MANY))
    assert many > 2 * few, f"bytes: {few}, {many}"


@pytest.mark.parametrize(
    ("workload", "loss"), [("ring:4", 0.0), ("ring:4", 0.2), ("groups:4", 0.0)]
)
def test_messages_leave_no_garbage_in_cycles(workload: str, loss: float) -> None:
    """`run` pauses the collector: nothing that a message leaves behind may need it.

    What the processes themselves leave, when the run is over, does not count.
    """
    garbage = []
    for messages in (FEW, MANY):
        with collector_off():
            run(scenario(messages, workload, loss=loss))
            garbage.append(gc.collect())
    few, many = garbage
    assert many - few < PROCESSES * (MANY - FEW) / 10, f"unreachable objects: {few}, {many}"


def test_runs_do_not_pile_up() -> None:
    """What one run leaves, the collector finds by itself while others run: sweeps make thousands."""
    gc.collect()
    before = len(gc.get_objects())
    for seed in range(60):
        run(Scenario(protocol="hybrid", processes=PROCESSES, messages=5, seed=seed))
    leftover = len(gc.get_objects()) - before
    gc.collect()
    one_run = PROCESSES * 40  # about what the processes of a run are made of
    assert leftover < 20 * one_run, f"{leftover} objects"
