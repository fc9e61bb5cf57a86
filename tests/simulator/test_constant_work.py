"""An event costs the same, however many processes there are and however long the run.

Shown by counting executed lines, those of the simulator and of the cores in it.
"""

from __future__ import annotations

from unittest.mock import patch

import pytest

from beforehand.simulator import Scenario
from beforehand.simulator.world import simulation
from tests.support.work import COUNTABLE, lines_per_event

pytestmark = pytest.mark.skipif(not COUNTABLE, reason="compiled modules execute no lines to count")

FLAT = 1.15  # the largest growth that counts as none
WINDOW = 400  # events in which lines are counted


def work(processes: int, messages: int, protocol: str = "hybrid") -> float:
    """Lines per event, somewhere in the second half of a run."""
    scenario = Scenario(
        protocol=protocol,
        workload="ring:4",
        processes=processes,
        messages=messages,
        delay="5ms",
        interval="10ms",
    )
    events = 2 * processes * messages  # at least: each message is sent, and arrives
    # A run looks inside its cores the less often the longer it has been going on. Let it do so at
    # every event: that is the same at all sizes.
    with patch.object(simulation, "MAX_SAMPLING_GAP", 1):
        return lines_per_event(scenario, WINDOW, skipped=events // WINDOW - 1)


def test_work_does_not_depend_on_the_number_of_processes() -> None:
    """From 20 to 500 processes with four peers each."""
    counts = [work(processes, messages=20) for processes in (20, 100, 500)]
    assert max(counts) <= FLAT * min(counts), f"lines per event: {counts}"


def test_work_does_not_depend_on_the_number_of_messages() -> None:
    """From 20 to 200 messages of each process."""
    counts = [work(20, messages) for messages in (20, 60, 200)]
    assert max(counts) <= FLAT * min(counts), f"lines per event: {counts}"


def test_the_count_does_see_work_that_grows() -> None:
    """Matrix clocks, counted alike, do grow with the number of processes."""
    counts = [work(processes, 20, "rst") for processes in (20, 100)]
    assert counts[1] > 1.5 * counts[0], f"lines per event: {counts}"
